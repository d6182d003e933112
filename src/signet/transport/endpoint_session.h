// A session of the handshake revisions over HTTP: its streams, and what was sent on them. Internal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <signet/base/principal.h>
#include <signet/protocol/service.h>
#include <signet/transport/running_call.h>
#include <signet/transport/server_request.h>

namespace signet::transport {

// The name of an event: its stream and its place in the session.
struct EventId {
  std::uint64_t stream = 0;
  std::uint64_t event = 0;

  std::string text() const;
  static std::optional<EventId> parse(std::string_view text);
};

class ReplayLog;

// What the logs of all sessions hold together, with what it costs to keep an event. Beyond the limit the oldest event goes,
// whose ever it is.
class ReplayBudget {
 public:
  explicit ReplayBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  std::size_t bytes() const { return bytes_; }

 private:
  friend class ReplayLog;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<ReplayLog*> order_;  // the log of each event, the oldest event first
};

// The last events of a session, over all its streams. Beyond any of the limits the oldest go.
class ReplayLog {
 public:
  ReplayLog(std::size_t events_max, std::size_t bytes_max, std::shared_ptr<ReplayBudget> budget)
      : events_max_(events_max), bytes_max_(bytes_max), budget_(std::move(budget)) {}
  ReplayLog(const ReplayLog&) = delete;
  ReplayLog& operator=(const ReplayLog&) = delete;
  ~ReplayLog();

  EventId append(std::uint64_t stream, std::string_view line);
  // The events of `after.stream` behind `after`, framed.
  std::string since(EventId after) const;

 private:
  struct Event {
    EventId id;
    std::string line;
    std::list<ReplayLog*>::iterator place;  // in the budget's order
  };
  static std::size_t cost_of(const Event& event) { return sizeof(Event) + event.line.size(); }
  void drop_oldest();

  std::size_t events_max_;
  std::size_t bytes_max_;
  std::shared_ptr<ReplayBudget> budget_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
  std::deque<Event> events_;
};

// Streams are numbered: 0 is the standalone one (GET), each POST that answers with events has another. A stream outlives
// its connection: the client comes back for it with Last-Event-ID. On the loop's thread.
class EndpointSession : public std::enable_shared_from_this<EndpointSession> {
 public:
  EndpointSession(std::string session_id, Principal owner, std::size_t events_max, std::size_t bytes_max,
                  std::shared_ptr<ReplayBudget> budget);

  const std::string& id() const { return id_; }
  const Principal& principal() const { return principal_; }
  Session& state() { return state_; }
  OutgoingRequests& outgoing() { return *outgoing_; }

  // Told whenever a stream that goes on loses its connection or has one again.
  using Watcher = std::function<void(bool connected)>;

  // A new stream whose events go to `responder`, which has opened its stream. With 2025-11-25 it begins with an event
  // without data, so that the client has an id to come back with. `watcher` may be empty; it is not called from here.
  std::uint64_t open(std::shared_ptr<Responder> responder, Watcher watcher = {});
  void open_standalone(std::shared_ptr<Responder> responder);
  // Sends what the client missed, and then what comes. False if there is no such stream.
  bool resume(EventId last, const std::shared_ptr<Responder>& responder, const Fields& fields);

  // False if there is no such stream.
  bool send(std::uint64_t stream, std::string_view line);
  // Ends the connection of a stream that goes on.
  void detach(std::uint64_t stream, std::chrono::milliseconds retry);
  // Nothing more comes on this stream.
  void finish(std::uint64_t stream);
  void finish_all();

  // Asks the client on a stream.
  Task<Reply> ask(std::uint64_t stream, std::string method, Json params);

  // Whether who reads that stream is behind.
  bool is_behind(std::uint64_t stream) const;
  // Whether the client is there: it listens on a stream, or waits for an answer.
  bool is_attended() const;
  // Whether nothing is being done, unless it is waiting for the client.
  bool only_waits() const { return calls == calls_asking; }

  // When the client was last there or heard from, in ticks of the server.
  std::uint64_t heard_at = 0;
  std::size_t calls = 0;            // running
  std::size_t calls_answering = 0;  // of these: will be answered on the connection of their request
  std::size_t calls_asking = 0;     // of these: have asked the client something

 private:
  struct Stream {
    std::shared_ptr<Responder> responder;  // null while nobody is connected
    Watcher watcher;
    bool finished = false;
  };
  class Standalone;

  void attach(std::uint64_t number, const std::shared_ptr<Responder>& responder);
  void lose(std::uint64_t number, const Responder* responder);
  void prime(std::uint64_t number);
  void forget_old_streams();

  std::string id_;
  Principal principal_;
  Session state_;
  std::shared_ptr<OutgoingRequests> outgoing_;
  std::shared_ptr<Outlet> standalone_;
  ReplayLog log_;
  std::size_t streams_max_;
  std::uint64_t next_stream_ = 1;
  std::map<std::uint64_t, Stream> streams_;
};

}  // namespace signet::transport
