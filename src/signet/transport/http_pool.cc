// Connections of HttpClient: kept, counted, lent.
#include <signet/transport/http_client_impl.h>

#include <algorithm>

namespace signet {
namespace {

using Kind = TransportFailure::Kind;
using namespace std::chrono_literals;

// Shorter than the 5 s after which common servers close idle connections.
constexpr auto idle_max = 4000ms;
constexpr std::size_t idle_connections_max = 16;
constexpr int redirects_max = 3;

}  // namespace

Lease::~Lease() { owner_->give_back(std::move(connection_), counted_); }

void HttpClient::Impl::give_back(std::shared_ptr<HttpConnection> connection, bool counted) {
  if (!closing && connection->reusable() && idle.size() < idle_connections_max) {
    const HttpConnection* key = connection.get();
    std::shared_ptr<void> expiry = loop.executor.post_after(idle_max, [weak = weak_from_this(), key] {
      const std::shared_ptr<Impl> self = weak.lock();
      if (self) std::erase_if(self->idle, [key](const Idle& entry) { return entry.connection.get() == key; });
    });
    idle.push_back(Idle{std::move(connection), std::move(expiry)});
  } else {
    connection->close();
  }
  if (!counted) return;
  --connections;
  if (waiting.empty() || closing) return;
  // Not from here: this may run inside the destructor of the task that gave the connection back.
  loop.executor.post([weak = weak_from_this()] {
    const std::shared_ptr<Impl> self = weak.lock();
    if (self) self->wake_next();
  });
}

void HttpClient::Impl::wake_next() {
  while (!waiting.empty() && connections < options.connections_max) {
    const Waiting next = waiting.front();
    waiting.pop_front();
    if (!*next.alive) continue;
    next.turn.set(0);
    return;
  }
}

Task<Answered> HttpClient::Impl::lease(HttpUrl target, bool waits, bool fresh) {
  struct Alive {
    std::shared_ptr<bool> flag = std::make_shared<bool>(true);
    ~Alive() { *flag = false; }
  };
  while (waits && connections >= options.connections_max) {
    const Alive alive;
    Waiting place;
    place.alive = alive.flag;
    waiting.push_back(place);
    co_await place.turn;
  }
  if (waits) ++connections;
  while (!fresh && !idle.empty()) {
    std::shared_ptr<HttpConnection> last = std::move(idle.back().connection);
    idle.pop_back();
    if (!last->stale()) co_return std::make_shared<Lease>(shared_from_this(), std::move(last), waits, true);
    last->close();
  }
  auto connection = std::make_shared<HttpConnection>(loop.context, trust, loop.executor);
  auto lent = std::make_shared<Lease>(shared_from_this(), connection, waits, false);
  const Task<Failed> opening = connection->open(std::move(target), proxy, options.connect_timeout);
  Failed failed = co_await opening;
  if (failed) co_return failure(std::move(*failed));
  co_return lent;
}

std::string HttpClient::Impl::head_of(const Outgoing& outgoing, const HttpUrl& target) const {
  std::string text = outgoing.verb + " ";
  if (proxy && !target.tls) text += "http://" + target.authority();
  text += target.target + " HTTP/1.1\r\nHost: " + target.authority() + "\r\nUser-Agent: signet/0.1\r\n";
  for (const auto& [name, value] : outgoing.headers) text += name + ": " + value + "\r\n";
  for (const auto& [name, value] : options.headers) text += name + ": " + value + "\r\n";
  if (outgoing.verb == "POST") {
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(outgoing.body.size()) + "\r\n";
  }
  return text + "\r\n";
}

// Sends and reads the head of the answer, following redirects that stay within the origin.
Task<Answered> HttpClient::Impl::send(Outgoing outgoing) {
  HttpUrl target = url;
  bool fresh = false;
  for (int redirects = 0; redirects <= redirects_max;) {
    const Task<Answered> leasing = lease(target, outgoing.waits, fresh);
    Answered lent = co_await leasing;
    if (!lent) co_return lent;
    const LeasePtr connection = *lent;
    const Task<Failed> sending =
        (*connection)->send(head_of(outgoing, target) + outgoing.body, options.send_timeout);
    Failed failed = co_await sending;
    if (!failed) {
      const Task<Failed> reading = (*connection)->read_head(outgoing.silence);
      failed = co_await reading;
    }
    if (failed) {
      const bool lost_idle = connection->reused() && (*connection)->silent() && failed->kind == Kind::closed;
      if (!lost_idle || !outgoing.repeatable) co_return failure(std::move(*failed));
      fresh = true;
      continue;
    }
    const int status = (*connection)->status();
    if (status / 100 != 3) co_return connection;
    TransportFailure redirected(Kind::redirected, "the server redirects elsewhere", false);
    redirected.http_status = status;
    const Result<HttpUrl> location = transport::resolve_location(target, (*connection)->field("Location"));
    if (location) redirected.location = location->text();
    const bool keeps_method = status == 307 || status == 308 || (outgoing.verb == "GET" && status != 304);
    if (!location || !keeps_method || !location->same_origin(url)) co_return failure(std::move(redirected));
    target.target = location->target;
    ++redirects;
  }
  co_return failure(TransportFailure(Kind::redirected, "the server redirects in circles"));
}

}  // namespace signet
