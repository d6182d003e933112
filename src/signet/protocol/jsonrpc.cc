#include <signet/protocol/jsonrpc.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <signet/protocol/errors.h>

namespace signet::protocol {
namespace {

Fault envelope_fault(int code, std::string sentence) {
  Fault fault(code, std::move(sentence));
  fault.stage = Fault::Stage::envelope;
  return fault;
}

InvalidMessage invalid(std::string sentence, const Json* id, bool answer = true) {
  std::optional<Json> usable;
  if (id != nullptr && is_request_id(*id)) usable = *id;
  return InvalidMessage(envelope_fault(invalid_request, std::move(sentence)), std::move(usable), answer);
}

// Nothing, or why these params cannot be those of an MCP message.
std::optional<Fault> params_fault(const Json* params) {
  if (params == nullptr || params->is_object()) return std::nullopt;
  if (params->is_array()) return envelope_fault(invalid_params, "params must be an object");
  return envelope_fault(invalid_request, "params must be an object");
}

Json take(Json& object, std::string_view name) {
  Json* found = object.find(name);
  return found != nullptr ? std::move(*found) : Json();
}

Message classify_call(Json& value) {
  const Json* id = value.find("id");
  const std::string* method = value.find_string("method");
  if (method == nullptr) return invalid("method must be a string", id, id != nullptr);
  if (id != nullptr && !is_request_id(*id)) return invalid("id must be a string or an integer", nullptr);
  if (std::optional<Fault> fault = params_fault(value.find("params"))) {
    std::optional<Json> usable;
    if (id != nullptr) usable = *id;
    return InvalidMessage(std::move(*fault), std::move(usable), id != nullptr);
  }
  std::string name = *method;
  Json params = take(value, "params");
  if (id == nullptr) return Notification(std::move(name), std::move(params));
  return Request(take(value, "id"), std::move(name), std::move(params));
}

Message classify_response(Json& value) {
  const Json* id = value.find("id");
  const Json* error = value.find("error");
  const bool has_result = value.contains("result");
  if (has_result == (error != nullptr)) return invalid("exactly one of result and error", id, false);
  if (has_result) {
    if (id == nullptr || !is_request_id(*id))
      return invalid("id must be a string or an integer", nullptr, false);
    return Response(take(value, "id"), take(value, "result"));
  }
  if (id != nullptr && !id->is_null() && !is_request_id(*id))
    return invalid("id must be a string or an integer", nullptr, false);
  const Json* code = error->find("code");
  const std::optional<std::int64_t> number = code != nullptr ? code->as_int64() : std::nullopt;
  const std::string* sentence = error->find_string("message");
  const bool fits = number.has_value() && *number >= std::numeric_limits<int>::min() &&
                    *number <= std::numeric_limits<int>::max();
  if (!fits || sentence == nullptr) return invalid("error must have a code and a message", id, false);
  Fault fault(static_cast<int>(*number), *sentence);
  if (const Json* data = error->find("data")) fault.data = *data;
  return Response(id != nullptr ? *id : Json(), failure(std::move(fault)));
}

void append_head(std::string& out, const Json* id) {
  out += R"({"jsonrpc":"2.0",)";
  if (id == nullptr) return;
  out += R"("id":)";
  json::append(out, *id);
  out += ',';
}

void append_call(std::string& out, std::string_view method, const Json& params) {
  out += R"("method":)";
  json::append(out, Json(method));
  if (!params.is_null()) {
    out += R"(,"params":)";
    json::append(out, params);
  }
  out += '}';
}

// Integers beyond 64 bits are kept as they were written, and only digits come back as those of an integer.
bool is_long_integer(const Json& id) {
  if (!id.is_integer()) return false;
  const std::string text = json::write(id);
  return text.size() <= id_digits_max && text.find_first_not_of("-0123456789") == std::string::npos;
}

}  // namespace

bool is_request_id(const Json& id) {
  if (id.is_string()) return true;
  if (!id.as_int64() && !id.as_uint64()) return is_long_integer(id);
  // -0.0 is the integer 0 and would not be echoed as one.
  const std::optional<double> value = id.as_double();
  return !value || !std::signbit(*value) || *value != 0;
}

std::string id_key(const Json& id) { return json::canonical(id); }

Message classify(Json value) {
  if (value.is_array()) return invalid("batches are not accepted", nullptr);
  if (!value.is_object()) return invalid("a message is an object", nullptr);
  const bool call = value.contains("method");
  const bool response = value.contains("result") || value.contains("error");
  const std::string* version = value.find_string("jsonrpc");
  if (version == nullptr || *version != "2.0")
    return invalid("jsonrpc must be \"2.0\"", value.find("id"), call || !response);
  if (call && response) return invalid("a request has no result and no error", value.find("id"));
  if (call) return classify_call(value);
  if (response) return classify_response(value);
  return invalid("a message has a method, a result or an error", value.find("id"));
}

Message read_message(std::string_view text, const json::Limits& limits) {
  Result<Json, json::ParseError> value = json::parse(text, limits);
  if (!value.ok())
    return InvalidMessage(envelope_fault(parse_error, "Parse error: " + json::describe(value.error())),
                          std::nullopt);
  return classify(std::move(value).value());
}

bool looks_like_batch(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

Result<std::vector<Message>, Fault> read_batch(std::string_view text, std::size_t messages_max,
                                               const json::Limits& limits) {
  Result<Json, json::ParseError> value = json::parse(text, limits);
  if (!value.ok())
    return failure(envelope_fault(parse_error, "Parse error: " + json::describe(value.error())));
  JsonArray* elements = value->as_array();
  if (elements == nullptr || elements->empty())
    return failure(envelope_fault(invalid_request, "a batch is an array of messages"));
  if (elements->size() > messages_max)
    return failure(envelope_fault(invalid_request, "too many messages in one batch"));
  std::vector<Message> messages;
  messages.reserve(elements->size());
  for (Json& element : *elements) messages.push_back(classify(std::move(element)));
  return messages;
}

std::string write_batch(const std::vector<std::string>& messages) {
  std::string out;
  for (const std::string& message : messages) {
    out += out.empty() ? '[' : ',';
    out += message;
  }
  out += ']';
  return out;
}

std::string write_request(const Json& id, std::string_view method, const Json& params) {
  std::string out;
  append_head(out, &id);
  append_call(out, method, params);
  return out;
}

std::string write_notification(const Notification& notification) {
  std::string out;
  append_head(out, nullptr);
  append_call(out, notification.method, notification.params);
  return out;
}

std::string write_reply(const Json& id, const Reply& reply) {
  if (!reply.ok()) return write_error(id, reply.error());
  std::string out;
  append_head(out, &id);
  out += R"("result":)";
  json::append(out, reply.value());
  out += '}';
  return out;
}

std::string write_error(const std::optional<Json>& id, const Fault& fault) {
  std::string out;
  append_head(out, id.has_value() ? &*id : nullptr);
  out += R"("error":)";
  json::append(out, to_json(fault));
  out += '}';
  return out;
}

Json to_json(const Fault& fault) {
  Json error = Json::object({{"code", fault.code}, {"message", fault.message}});
  if (!fault.data.is_null()) error.set("data", fault.data);
  return error;
}

}  // namespace signet::protocol
