#include <signet/server/server.h>

#include <signet/server/server_impl.h>

#include <stdexcept>

namespace signet {

namespace {

template <typename T>
void add(detail::Catalogue<T>& catalogue, std::shared_ptr<const T> entry, std::string_view kind) {
  const std::string key = entry->key;
  if (!catalogue.add(std::move(entry))) {
    throw std::invalid_argument(std::string(kind) + " '" + key + "' is there already");
  }
}

}  // namespace

Server::Server(ServerInfo info, ServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(info), options.settings())) {}

Server::~Server() = default;

Server& Server::add_tool(std::string name, std::string description, Json input_schema, Json output_schema,
                         detail::Handler handler, ToolOptions options) {
  const bool has_task = options.settings().task_support != TaskSupport::none;
  add(impl_->tools,
      detail::make_tool(std::move(name), std::move(description), std::move(input_schema),
                        std::move(output_schema), std::move(handler), options.settings(), impl_->settings),
      "tool");
  if (has_task) impl_->has_tasks = true;
  return *this;
}

Server& Server::add_prompt(std::string name, std::string description, Json input_schema,
                           detail::Handler handler, PromptOptions options) {
  add(impl_->prompts,
      detail::make_prompt(std::move(name), std::move(description), input_schema, std::move(handler),
                          options.settings(), impl_->settings),
      "prompt");
  return *this;
}

Server& Server::add_resource(std::string uri, std::string name, detail::Handler handler,
                             ResourceOptions options) {
  add(impl_->resources,
      detail::make_resource(std::move(uri), std::move(name), std::move(handler), options.settings(),
                            impl_->settings),
      "resource");
  return *this;
}

Server& Server::add_resource_template(std::string uri_template, std::string name, Json input_schema,
                                      detail::Handler handler, ResourceOptions options) {
  add(impl_->templates,
      detail::make_resource_template(std::move(uri_template), std::move(name), input_schema,
                                     std::move(handler), options.settings(), impl_->settings),
      "resource template");
  return *this;
}

Server& Server::prompt_completion(std::string prompt, std::string argument, Completion completion) {
  if (impl_->prompts.find(prompt) == nullptr)
    throw std::invalid_argument("there is no prompt '" + prompt + "'");
  impl_->add_completion(detail::completion_key("ref/prompt", prompt, argument), std::move(completion));
  return *this;
}

Server& Server::template_completion(std::string uri_template, std::string variable, Completion completion) {
  const auto entry = impl_->templates.find(uri_template);
  if (entry == nullptr || !entry->uri_template->has_variable(variable)) {
    throw std::invalid_argument("there is no resource template '" + uri_template + "' with that variable");
  }
  impl_->add_completion(detail::completion_key("ref/resource", uri_template, variable),
                        std::move(completion));
  return *this;
}

bool Server::remove_tool(std::string_view name) { return impl_->tools.remove(name); }
bool Server::remove_prompt(std::string_view name) { return impl_->prompts.remove(name); }
bool Server::remove_resource(std::string_view uri) { return impl_->resources.remove(uri); }

void Server::notify_tools_changed() { impl_->subscriptions->publish(detail::Change::tools); }
void Server::notify_prompts_changed() { impl_->subscriptions->publish(detail::Change::prompts); }
void Server::notify_resources_changed() { impl_->subscriptions->publish(detail::Change::resources); }
void Server::notify_resource_updated(std::string uri) {
  impl_->subscriptions->publish(detail::Change::resource_updated, uri);
}

Task<Reply> Server::call(Request request, Exchange& exchange) {
  return impl_->serve(std::move(request), exchange);
}

// Cancellation is the transport's, which holds the coroutines, and of a task of the extension it is a request (X12); what
// else a client may tell changes nothing here.
void Server::notify(Notification /*notification*/, Exchange& /*exchange*/) {}

void Server::shut_down() { impl_->shut_down(); }

}  // namespace signet
