// The answer to a batch of messages (revision 2025-03-26), made of the answers to each. Internal.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <signet/transport/endpoint_session.h>
#include <signet/transport/server_request.h>

namespace signet::transport {

// Collects what is responded to the parts: one JSON array when the last one is there, 202 where nothing is to be said.
// The first part that streams makes a stream of it all; its last event is that array, and has an id in the session like the
// others. On the loop's thread.
class BatchAnswer : public std::enable_shared_from_this<BatchAnswer> {
 public:
  BatchAnswer(std::shared_ptr<Responder> whole, Fields fields, std::shared_ptr<EndpointSession> session);
  BatchAnswer(const BatchAnswer&) = delete;
  BatchAnswer& operator=(const BatchAnswer&) = delete;

  // To be called before anything is answered.
  void start();
  // Where one message is answered. It keeps the whole alive.
  std::shared_ptr<Responder> add_part();
  // No more parts come.
  void seal();

 private:
  class Part;

  void open_stream();
  void write(std::string_view events);
  void finish_part();
  void lose();

  std::shared_ptr<Responder> whole_;
  Fields fields_;
  std::shared_ptr<EndpointSession> session_;
  std::vector<std::weak_ptr<Part>> parts_;
  std::vector<std::string> messages_;
  std::size_t open_ = 1;  // parts that are not answered, and one until seal()
  bool streaming_ = false;
};

}  // namespace signet::transport
