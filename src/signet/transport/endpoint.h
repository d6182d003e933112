// MCP over HTTP: what a request means, whatever socket it came by. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <signet/base/entropy.h>
#include <signet/protocol/era.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/transport/endpoint_session.h>
#include <signet/transport/http_server.h>
#include <signet/transport/post_call.h>
#include <signet/transport/server_gate.h>
#include <signet/transport/server_request.h>

namespace signet::transport {

// On the loop's thread. All references outlive it.
class Endpoint final : public RequestHandler {
 public:
  Endpoint(Service& service, Executor& executor, const HttpOptions& options, Entropy& entropy);
  // Drops what still runs; never from inside a task.
  ~Endpoint() override;

  void handle(std::shared_ptr<const ServerRequest> request, std::shared_ptr<Responder> responder) override;
  bool wants_heads() const override { return options_.authenticator != nullptr; }
  void admit(std::shared_ptr<const ServerRequest> head, std::shared_ptr<Responder> responder,
             Admitted admitted) override;

  // Time passes: slow answers become streams, idle sessions end. `length` is that of one tick.
  void tick(std::uint64_t now, std::chrono::milliseconds length);

  // Refuses what is new, and lets the service end its streams.
  void begin_shutdown();
  // Whether no call runs whose connection is gone.
  bool is_idle() const { return unattended_->empty(); }
  // Silences everything. The loop must run once more for the tasks to be dropped.
  void cancel_all();

 private:
  friend class PostCall;
  struct Arrival;

  // True if it was answered: what needs no caller.
  bool answer_anybody(const Arrival& arrival);
  // `then` is called if it is known who it is, and the client is still there.
  using Identified = std::function<void(const std::shared_ptr<Arrival>&)>;
  void identify(const std::shared_ptr<Arrival>& arrival, Identified then);
  Task<bool> authenticate(std::shared_ptr<Arrival> arrival);
  void serve(const std::shared_ptr<Arrival>& arrival);
  void post(const std::shared_ptr<Arrival>& arrival);
  void get(const std::shared_ptr<Arrival>& arrival);
  void remove(const std::shared_ptr<Arrival>& arrival);
  void post_message(const std::shared_ptr<Arrival>& arrival, protocol::Message message, Accepts accepts);
  bool accepts_batch(const Arrival& arrival) const;
  void post_batch(const std::shared_ptr<Arrival>& arrival, Accepts accepts);
  void post_request(const std::shared_ptr<Arrival>& arrival, Request request, Accepts accepts);
  void post_notification(const std::shared_ptr<Arrival>& arrival, Notification notification);
  void post_response(const std::shared_ptr<Arrival>& arrival, protocol::Response response);

  void serve_metadata(const Arrival& arrival);
  void preflight(const Arrival& arrival, std::string_view allowed);
  void challenge(const Arrival& arrival, const Challenge& challenge);
  std::string metadata_url(const ServerRequest& request) const;
  bool is_metadata_path(std::string_view path) const;

  std::shared_ptr<EndpointSession> make_session(const Principal& principal);
  // The session the request names, or null when it has been refused; with the id where a JSON-RPC request is.
  std::shared_ptr<EndpointSession> find_session(const Arrival& arrival,
                                                const std::optional<Json>& id = std::nullopt);
  bool make_room();
  void end_resumable_calls();
  void end_session(const std::shared_ptr<EndpointSession>& session);

  void refuse(const Arrival& arrival, int status, std::string_view sentence) const;
  // 405, with the methods that are allowed there.
  void refuse_method(const Arrival& arrival, std::string_view allowed) const;
  std::string_view methods() const;  // of the endpoint
  void refuse(const Arrival& arrival, const std::optional<Json>& id, const Fault& fault, int status) const;
  Fields fields_for(const ServerRequest& request) const;

  Service& service_;
  Executor& executor_;
  const HttpOptions& options_;
  Entropy& entropy_;
  json::Limits limits_;
  std::uint64_t now_ = 0;
  std::chrono::milliseconds tick_length_{1000};
  bool shutting_down_ = false;
  std::list<std::shared_ptr<PostCall>> calls_;
  std::shared_ptr<Unattended> unattended_ = std::make_shared<Unattended>(options_.unattended_calls_max);
  std::shared_ptr<Resumable> resumable_ = std::make_shared<Resumable>();
  std::list<std::shared_ptr<Arrival>> arriving_;  // being authenticated
  std::shared_ptr<ReplayBudget> replay_budget_ =
      std::make_shared<ReplayBudget>(options_.replay_total_bytes_max);
  std::map<std::string, std::shared_ptr<EndpointSession>, std::less<>> sessions_;
};

}  // namespace signet::transport
