// A fleet in a bad week: instances with skewed clocks that share keys and a store, a rotation in mid-flow, rolling
// upgrades, restarts, messages that are lost, doubled and late, and a client who shows whatever it has seen.
//
// Each seed is one world. SIGNET_SIMULATION_SEEDS says how many are run, SIGNET_SIMULATION_SEED which one alone.
#include <signet/server/server.h>

#include <signet/protocol/errors.h>
#include <signet/server/simulation.h>
#include <signet/server/test_support.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <sstream>

namespace signet::simulation {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::at;
using testing::modern;

constexpr int servers = 3;
constexpr int stranger = servers;  // an instance of another service that holds the same keys
constexpr milliseconds lifetime = minutes(10);
constexpr milliseconds flow_lifetime = minutes(40);
constexpr int hostile = 0;  // among the clients

// --- what clients send, and what is known of it ---

struct Order {
  int client;
  int number;
  int questions;  // one after another, the first two at once where `together`
  bool together;
  bool pauses;
  bool operator==(const Order&) const = default;
};

struct Given {
  std::string text;  // what a handler may come to see
  bool fits;         // the question's schema
};

// One message of a client, which may be sent more than once.
struct Sent {
  int number = 0;
  int principal = 0;
  std::string tool;
  Order order{};
  std::string state;
  Json responses = Json::object();
  std::map<std::string, Given> given;
};

struct Answered {
  std::string words;
  std::string text;
};

struct Issued;

// One run of a handler.
struct Visit {
  const Sent* sent = nullptr;
  const Issued* state = nullptr;  // null in a first round
  Timestamp arrived;              // the message, by the server's clock
  std::string flow;
  std::uint32_t round = 0;
  std::map<std::string, Answered> seen;
  std::optional<int> drawn;
};

// A state that a server let out, and what must be in it.
struct Issued {
  std::string token;
  int principal = 0;
  std::string tool;
  Order order{};
  bool of_stranger = false;
  std::uint32_t round = 0;
  Timestamp good_until;                      // certainly
  Timestamp good_no_longer;                  // from here on
  std::map<std::string, std::string> asked;  // key to words
  std::map<std::string, Answered> answered;
  std::optional<int> drawn;
  // What has become of it.
  int claimants = 0;
  std::set<int> messages;
  std::shared_ptr<Visit> visit;
  std::string reply;
};

class NoOutlet final : public Outlet {
 public:
  void notify(Notification /*notification*/) override {}
  Task<Reply> request(std::string /*method*/, Json /*params*/) override {
    co_return failure(Fault(protocol::internal_error, "nobody is there"));
  }
};

// A message that has reached a server.
struct Delivery {
  int number = 0;
  const Sent* sent = nullptr;
  int instance = 0;
  Timestamp arrived;  // by the server's clock
  Issued* state = nullptr;
  std::string must_refuse;  // why, where it must
  bool may_refuse = false;
  int store_failures = 0;  // before it arrived
  std::shared_ptr<Visit> visit;
  std::shared_ptr<Lane> lane;
  NoOutlet outlet;
  Exchange exchange;
  Task<Reply> task;
};

struct Instance {
  std::unique_ptr<SkewedClock> clock;
  std::shared_ptr<token::SharedRing> ring;
  int rotation_step = 0;
  int version = 0;
  std::unique_ptr<Server> server;
};

struct Client {
  int number = 0;
  int flows_left = 0;
  bool stalls = false;  // answers nothing, and asks for more time
  const Sent* awaited = nullptr;
  int attempts = 0;
};

// Over all seeds, to see that what is claimed was also met.
struct Totals {
  long flows = 0, finished = 0, refused = 0, attacks = 0, doubled = 0, lost = 0, restarts = 0, rotations = 0;
  long effects = 0, asked_again = 0, kept_replies = 0, expired = 0, store_failures = 0, dropped = 0;
};

std::string key_of(int question) { return "q" + std::to_string(question); }

// What is asked; the second question reads differently in every version of the program.
std::string words_of(const Order& order, int question, int version) {
  std::string words = "Question " + std::to_string(question) + " of order " + std::to_string(order.client) +
                      "/" + std::to_string(order.number) + "?";
  if (question == 1) words += " (Version " + std::to_string(version) + ")";
  return words;
}

std::string text_of(const ElicitResult& answer) {
  if (answer.declined()) return "declined";
  if (answer.cancelled()) return "cancelled";
  return answer.string("v");
}

struct World {
  World(std::uint64_t seed, int clients, int flows_each, Totals& counted);
  ~World();
  void run();

  // For handlers.
  std::shared_ptr<Visit> enter(const Call& call, const Order& order, int instance);
  int draw(Visit& visit);
  void drew(Visit& visit, int value);
  void saw(Visit& visit, int question, int version, const ElicitResult& answer);
  OneShot<bool> pause();
  void act(const Visit& visit);

  // The fleet.
  void start(int instance);
  void stop(int instance);
  void restart(int instance);
  void rotate();
  void disconnect();

  // Clients.
  void begin_flow(Client& client);
  void transmit(Client& client);
  void timed_out(Client& client, const Sent* awaited);
  void receive(Client& client, const Sent* sent, const Reply& reply);
  const Sent* answer(const Client& client, const Reply& asked);
  void give(Sent& sent, const std::string& key, bool fits);
  void attack();
  Sent& compose(int principal, std::string tool, const Order& order);

  // Messages.
  void deliver(const Sent* sent, int instance);
  void judge(Delivery& delivery);
  void replied(Delivery& delivery, const Reply& reply);
  void refused(const Delivery& delivery, const Fault& fault);
  void issued(const Delivery& delivery, const Visit& visit, const Reply& reply);
  void drop(int delivery);

  void violated(const std::string& what) {
    if (violations.size() < 5) violations.push_back(what);
  }

  Random random;
  RandomEntropy entropy{random};
  Timeline timeline{Timestamp(hours(500'000))};
  Totals& totals;
  std::shared_ptr<Store> store = std::make_shared<Store>(random);
  Rotation rotation{random, lifetime + minutes(5)};
  std::vector<Instance> fleet{servers + 1};
  std::deque<Client> clients;
  int clients_left;
  int serial = 0;
  std::deque<Sent> sent;
  std::deque<Issued> wire;  // every state that was ever let out
  std::map<std::string, Issued*> by_token;
  std::deque<Delivery> deliveries;
  std::set<int> under_way;
  std::map<std::string, Timestamp> deadlines;  // of flows
  std::map<std::string, int> effects;
  std::map<std::string, int> drawings;
  std::vector<std::string> violations;
};

// --- the handler that all tools share ---

bool is_single_use(std::string_view tool) { return tool != "many"; }

Task<ToolResult> converse(World* world, int instance, Call& call, Order order) {
  const int version = world->fleet[static_cast<std::size_t>(instance)].version;
  const std::shared_ptr<Visit> visit = world->enter(call, order, instance);
  auto draw = [world, visit] { return world->draw(*visit); };
  const int drawn = co_await call.step("drawn", draw);
  world->drew(*visit, drawn);

  int next = 0;
  if (order.together) {
    auto first = call.elicit(key_of(0), form(words_of(order, 0, version)).string("v"));
    auto second = call.elicit(key_of(1), form(words_of(order, 1, version)).string("v"));
    auto [one, two] = co_await all(first, second);
    world->saw(*visit, 0, version, one);
    world->saw(*visit, 1, version, two);
    next = 2;
  }
  for (; next < order.questions; ++next) {
    auto question = call.elicit(key_of(next), form(words_of(order, next, version)).string("v"));
    ElicitResult answer = co_await question;
    world->saw(*visit, next, version, answer);
  }
  if (order.pauses) {
    OneShot<bool> pause = world->pause();
    co_await pause;
  }
  world->act(*visit);
  co_return text("done with " + std::to_string(visit->seen.size()) + " answers");
}

std::shared_ptr<Visit> World::enter(const Call& call, const Order& order, int instance) {
  const Json* number = call.meta().find("example.com/delivery");
  Delivery& delivery = deliveries.at(static_cast<std::size_t>(*number->as_int64()));
  auto visit = std::make_shared<Visit>();
  visit->sent = delivery.sent;
  visit->state = delivery.state;
  visit->arrived = delivery.arrived;
  visit->flow = call.flow_id();
  visit->round = call.round();
  if (!delivery.must_refuse.empty()) violated("served although " + delivery.must_refuse);
  if (!(order == delivery.sent->order)) violated("the handler got other arguments");
  if (delivery.state == nullptr) {
    if (delivery.visit != nullptr || call.round() != 1) violated("a first round that is none");
    deadlines[visit->flow] = fleet[static_cast<std::size_t>(instance)].clock->now() + flow_lifetime;
  } else {
    if (is_single_use(delivery.state->tool) && delivery.state->visit != nullptr)
      violated("a state was redeemed twice");
    if (call.round() != delivery.state->round + 1) violated("a round was skipped");
    if (deadlines.count(visit->flow) == 0) violated("a flow that nobody began");
    if (delivery.arrived >= deadlines[visit->flow]) violated("a flow outlived its deadline");
    delivery.state->visit = visit;
  }
  delivery.visit = visit;
  return visit;
}

int World::draw(Visit& visit) {
  if (++drawings[visit.flow] > 1 && is_single_use(visit.sent->tool)) violated("a step was computed twice");
  return ++serial;
}

void World::drew(Visit& visit, int value) {
  visit.drawn = value;
  if (visit.state != nullptr && visit.state->drawn && *visit.state->drawn != value)
    violated("a step was forgotten");
}

void World::saw(Visit& visit, int question, int version, const ElicitResult& answer) {
  const std::string key = key_of(question);
  const std::string words = words_of(visit.sent->order, question, version);
  const std::string text = text_of(answer);
  visit.seen.insert_or_assign(key, Answered{words, text});
  if (visit.state == nullptr) return violated("an answer before anything was asked was used");
  const auto kept = visit.state->answered.find(key);
  if (kept != visit.state->answered.end() && kept->second.words == words) {
    if (kept->second.text != text) violated("an accepted answer was lost for another");
    return;
  }
  const auto given = visit.sent->given.find(key);
  const auto asked = visit.state->asked.find(key);
  const bool counts = given != visit.sent->given.end() && asked != visit.state->asked.end() &&
                      asked->second == words && given->second.fits && given->second.text == text;
  if (!counts) violated("an answer was used that was not asked for: " + key);
}

OneShot<bool> World::pause() {
  OneShot<bool> pause;
  timeline.after(random.within(seconds(20)), [pause] { pause.set(true); });
  return pause;
}

void World::act(const Visit& visit) {
  ++totals.effects;
  if (++effects[visit.flow] > 1 && is_single_use(visit.sent->tool)) violated("an effect happened twice");
}

// --- the fleet ---

World::World(std::uint64_t seed, int client_count, int flows_each, Totals& counted)
    : random(seed), totals(counted), clients_left(client_count) {
  if (random.one_in(4)) store->away_one_in = 10;
  for (int i = 0; i <= stranger; ++i) {
    Instance& instance = fleet[static_cast<std::size_t>(i)];
    instance.clock = std::make_unique<SkewedClock>(timeline.clock(),
                                                   random.within(seconds(40)) - milliseconds(seconds(20)));
    instance.ring = std::make_shared<token::SharedRing>(rotation.ring(0, timeline.now()));
    start(i);
  }
  for (int i = 0; i < client_count; ++i) {
    Client& client = clients.emplace_back();
    client.number = i;
    client.flows_left = flows_each;
    client.stalls = i != hostile && random.one_in(12);
    timeline.after(random.within(minutes(2)), [this, &client] { begin_flow(client); });
  }
  timeline.after(random.within(minutes(5)), [this] { attack(); });
  timeline.after(random.within(minutes(20)), [this] { rotate(); });
  for (int i = 0; i < servers; ++i) timeline.after(random.within(minutes(30)), [this, i] { restart(i); });
  timeline.after(random.within(minutes(10)), [this] { disconnect(); });
}

World::~World() {
  for (int i = 0; i <= stranger; ++i) stop(i);
  totals.store_failures += store->failures;
}

void World::run() {
  while (violations.empty() && timeline.step()) {
  }
}

void World::start(int number) {
  Instance& instance = fleet[static_cast<std::size_t>(number)];
  token::Policy policy;
  policy.lifetime = lifetime;
  policy.flow_lifetime = flow_lifetime;
  instance.server = std::make_unique<Server>(ServerInfo("fleet", "1"),
                                             ServerOptions()
                                                 .clock(*instance.clock)
                                                 .entropy(entropy)
                                                 .ring(instance.ring)
                                                 .policy(policy)
                                                 .redemption_store(store)
                                                 .audience(number == stranger ? "another service" : "fleet"));
  const auto handler = [this, number](Call& call, Order order) {
    return converse(this, number, call, order);
  };
  instance.server->tool("many", "Any number of times.", handler);
  instance.server->tool("once", "Once.", handler, ToolOptions().redemption(Redemption::once));
  instance.server->tool("reply", "Once, and its reply again.", handler,
                        ToolOptions().redemption(Redemption::once_with_reply));
}

void World::stop(int number) {
  const std::set<int> running = under_way;
  for (const int delivery : running) {
    if (deliveries[static_cast<std::size_t>(delivery)].instance == number) drop(delivery);
  }
  fleet[static_cast<std::size_t>(number)].server.reset();
}

void World::drop(int number) {
  Delivery& delivery = deliveries[static_cast<std::size_t>(number)];
  ++totals.dropped;
  under_way.erase(number);
  delivery.lane->stop();
  delivery.task = Task<Reply>();
}

void World::restart(int number) {
  if (clients_left == 0) return;
  ++totals.restarts;
  stop(number);
  Instance& instance = fleet[static_cast<std::size_t>(number)];
  // A rolling upgrade: nobody is more than one version ahead.
  const bool behind = std::any_of(fleet.begin(), fleet.begin() + servers, [&instance](const Instance& other) {
    return other.version < instance.version;
  });
  if (!behind && random.one_in(2)) ++instance.version;
  start(number);
  timeline.after(minutes(10) + random.within(minutes(60)), [this, number] { restart(number); });
}

void World::rotate() {
  if (clients_left == 0) return;
  const auto slowest = std::min_element(fleet.begin(), fleet.end(), [](const Instance& a, const Instance& b) {
    return a.rotation_step < b.rotation_step;
  });
  ++totals.rotations;
  ++slowest->rotation_step;
  slowest->ring->replace(rotation.ring(slowest->rotation_step, timeline.now()));
  const bool all_there = std::all_of(fleet.begin(), fleet.end(), [&slowest](const Instance& other) {
    return other.rotation_step == slowest->rotation_step;
  });
  // Until everyone is there the others hurry; before a key is taken out, all of its states have expired.
  timeline.after(all_there ? minutes(20) + random.within(minutes(20)) : random.within(minutes(1)),
                 [this] { rotate(); });
}

void World::disconnect() {
  if (clients_left == 0) return;
  if (!under_way.empty()) {
    auto unlucky = under_way.begin();
    std::advance(unlucky, random.below(static_cast<int>(under_way.size())));
    drop(*unlucky);
  }
  timeline.after(random.within(minutes(2)), [this] { disconnect(); });
}

// --- clients ---

Sent& World::compose(int principal, std::string tool, const Order& order) {
  Sent& message = sent.emplace_back();
  message.number = static_cast<int>(sent.size());
  message.principal = principal;
  message.tool = std::move(tool);
  message.order = order;
  return message;
}

// Gives an answer that nobody else gives; or one that is none.
void World::give(Sent& message, const std::string& key, bool fits) {
  Given given{std::to_string(++serial), fits};
  Json response;
  if (!fits) {
    response = random.one_in(2) ? Json(7) : testing::parsed(R"({"action":"accept","content":{"v":5}})");
  } else if (random.one_in(10)) {
    given.text = random.one_in(2) ? "declined" : "cancelled";
    response.set("action", given.text == "declined" ? "decline" : "cancel");
  } else {
    Json content;
    content.set("v", given.text);
    response.set("action", "accept");
    response.set("content", std::move(content));
  }
  message.responses.set(key, std::move(response));
  message.given.insert_or_assign(key, std::move(given));
}

void World::begin_flow(Client& client) {
  if (client.flows_left == 0) {
    --clients_left;
    return;
  }
  --client.flows_left;
  ++totals.flows;
  Order order{client.number, client.flows_left, 1 + random.below(5), false, random.one_in(3)};
  order.together = order.questions > 1 && random.one_in(2);
  constexpr std::array<const char*, 3> tools{"many", "once", "reply"};
  client.awaited = &compose(client.number, tools[static_cast<std::size_t>(random.below(3))], order);
  client.attempts = 0;
  transmit(client);
}

void World::transmit(Client& client) {
  const Sent* message = client.awaited;
  const int copies = random.one_in(8) ? 2 : 1;
  if (copies == 2) ++totals.doubled;
  for (int i = 0; i < copies; ++i) {
    if (random.one_in(8)) {
      ++totals.lost;
      continue;
    }
    // Doubles may be so late that the flow has gone on, or is over.
    const milliseconds delay = random.within(i == 0 ? milliseconds(seconds(2)) : milliseconds(minutes(15)));
    const int instance = random.below(servers);
    timeline.after(delay, [this, message, instance] { deliver(message, instance); });
  }
  timeline.after(seconds(30) + random.within(seconds(10)),
                 [this, &client, message] { timed_out(client, message); });
}

void World::timed_out(Client& client, const Sent* awaited) {
  if (client.awaited != awaited) return;
  if (++client.attempts < 5) {
    transmit(client);
  } else {
    client.awaited = nullptr;
    begin_flow(client);
  }
}

void World::receive(Client& client, const Sent* message, const Reply& reply) {
  if (client.awaited != message) return;  // late, or a double's
  client.awaited = nullptr;
  client.attempts = 0;
  if (!reply.ok() || at(reply, {"resultType"}) != Json("input_required")) {
    if (reply.ok()) ++totals.finished;
    timeline.after(random.within(seconds(30)), [this, &client] { begin_flow(client); });
    return;
  }
  const bool lingers = random.one_in(25);
  const milliseconds thinking =
      client.stalls ? milliseconds(minutes(5))
                    : random.within(lingers ? milliseconds(minutes(15)) : milliseconds(seconds(60)));
  const Sent* next = answer(client, reply);
  timeline.after(thinking, [this, &client, next] {
    client.awaited = next;
    transmit(client);
  });
}

const Sent* World::answer(const Client& client, const Reply& asked) {
  const Json token = at(asked, {"requestState"});
  const Issued& state = *by_token.at(*token.as_string());
  Sent& message = compose(client.number, state.tool, state.order);
  message.state = state.token;
  for (const auto& [key, words] : state.asked) {
    if (!client.stalls && !random.one_in(15)) give(message, key, !random.one_in(15));
  }
  return &message;
}

// Shows a state that was on the wire, as it is or not, with answers that were asked for or not.
void World::attack() {
  if (clients_left == 0) return;
  timeline.after(random.within(minutes(2)), [this] { attack(); });
  if (wire.empty()) return;
  ++totals.attacks;
  const Issued& state = wire[static_cast<std::size_t>(random.below(static_cast<int>(wire.size())))];
  const Issued& other = wire[static_cast<std::size_t>(random.below(static_cast<int>(wire.size())))];
  // Sometimes it is the client itself that forks its flow.
  Sent& message = compose(random.one_in(3) ? state.principal : hostile, state.tool, state.order);
  message.state = state.token;
  int instance = random.below(servers);
  switch (random.below(7)) {
    case 0:
      message.order = other.order;
      break;
    case 1:
      message.tool = other.tool;
      break;
    case 2: {
      char& changed =
          message.state[static_cast<std::size_t>(random.below(static_cast<int>(message.state.size())))];
      changed = changed == 'A' ? 'B' : 'A';
      break;
    }
    case 3:
      message.state.resize(static_cast<std::size_t>(random.below(static_cast<int>(message.state.size()))));
      break;
    case 4:
      message.state.clear();  // answers before anything was asked
      break;
    case 5:
      instance = stranger;
      break;
    default:
      break;  // shown again as it is
  }
  for (int question = 0; question < 6; ++question) {
    if (random.one_in(2)) give(message, key_of(question), !random.one_in(4));
  }
  const Sent* shown = &message;
  timeline.after(random.within(seconds(2)), [this, shown, instance] { deliver(shown, instance); });
}

// --- messages ---

Json params_of(const Sent& message, int delivery, bool as_doubles) {
  const Order& order = message.order;
  Json arguments;
  arguments.set("client", as_doubles ? Json(double(order.client)) : Json(order.client));
  arguments.set("number", order.number);
  arguments.set("questions", order.questions);
  arguments.set("together", order.together);
  arguments.set("pauses", order.pauses);
  Json meta;
  meta.set("example.com/delivery", delivery);
  Json params;
  params.set("name", message.tool);
  params.set("arguments", std::move(arguments));
  params.set("_meta", std::move(meta));
  if (!message.state.empty()) params.set("requestState", message.state);
  if (!message.given.empty()) params.set("inputResponses", message.responses);
  return modern(std::move(params));
}

void World::deliver(const Sent* message, int number) {
  Instance& instance = fleet[static_cast<std::size_t>(number)];
  Delivery& delivery = deliveries.emplace_back();
  delivery.number = static_cast<int>(deliveries.size()) - 1;
  delivery.sent = message;
  delivery.instance = number;
  delivery.arrived = instance.clock->now();
  delivery.store_failures = store->failures;
  judge(delivery);

  delivery.lane = std::make_shared<Lane>(timeline, random);
  delivery.exchange.executor = delivery.lane.get();
  delivery.exchange.outlet = &delivery.outlet;
  delivery.exchange.principal = Principal::authenticated("client " + std::to_string(message->principal));
  under_way.insert(delivery.number);
  delivery.task = instance.server->call(
      Request(delivery.number, "tools/call", params_of(*message, delivery.number, random.one_in(3))),
      delivery.exchange);
  delivery.task.start([this, &delivery] {
    const Reply reply = delivery.task.take();
    delivery.task = Task<Reply>();
    under_way.erase(delivery.number);
    replied(delivery, reply);
  });
}

// Whether a state must or may be refused, from what is known of it.
void World::judge(Delivery& delivery) {
  const Sent& message = *delivery.sent;
  if (message.state.empty()) return;
  const auto found = by_token.find(message.state);
  if (found == by_token.end()) {
    delivery.must_refuse = "nobody made that state";
    return;
  }
  Issued& state = *found->second;
  delivery.state = &state;
  if (state.principal != message.principal) delivery.must_refuse = "it was another client's";
  if (state.tool != message.tool) delivery.must_refuse = "it was for another tool";
  if (!(state.order == message.order)) delivery.must_refuse = "it was for other arguments";
  if (state.of_stranger != (delivery.instance == stranger)) delivery.must_refuse = "it was another service's";
  if (delivery.arrived >= state.good_no_longer) delivery.must_refuse = "it had expired";
  delivery.may_refuse = delivery.arrived >= state.good_until;
  if (!delivery.must_refuse.empty()) return;
  ++state.claimants;
  state.messages.insert(message.number);
}

// Whether somebody else may have redeemed it: perhaps one that came later and was faster.
bool is_contested(const Issued& state) {
  if (state.tool == "once") return state.claimants > 1;
  return state.tool == "reply" && state.messages.size() > 1;
}

void World::replied(Delivery& delivery, const Reply& reply) {
  const Sent* message = delivery.sent;
  if (!reply.ok()) {
    refused(delivery, reply.error());
  } else if (!delivery.must_refuse.empty()) {
    violated("answered although " + delivery.must_refuse);
  } else {
    std::shared_ptr<Visit> visit = delivery.visit;
    if (delivery.state != nullptr && is_single_use(delivery.state->tool)) {
      const std::string text = json::write(*reply);
      if (visit == nullptr) {
        ++totals.kept_replies;
        visit = delivery.state->visit;
      }
      if (delivery.state->reply.empty()) delivery.state->reply = text;
      if (delivery.state->reply != text) violated("a repeated message got another reply");
    }
    if (visit == nullptr) return violated("a reply without a handler");
    if (at(reply, {"resultType"}) == Json("input_required")) issued(delivery, *visit, reply);
  }
  if (message->principal >= static_cast<int>(clients.size())) return;
  if (random.one_in(8)) {
    ++totals.lost;
    return;
  }
  Client& client = clients[static_cast<std::size_t>(message->principal)];
  timeline.after(random.within(seconds(2)),
                 [this, &client, message, reply] { receive(client, message, reply); });
}

void World::refused(const Delivery& delivery, const Fault& fault) {
  const Fault expected = protocol::invalid_request_state();
  if (fault.message == expected.message || !delivery.must_refuse.empty()) {
    ++totals.refused;
    if (delivery.must_refuse == "it had expired") ++totals.expired;
    if (fault.code != expected.code || fault.message != expected.message || !(fault.data == expected.data))
      violated("a refusal that tells something: " + fault.message + ", and " + delivery.must_refuse);
    const bool store_was_away =
        is_single_use(delivery.sent->tool) && store->failures > delivery.store_failures;
    const bool contested = delivery.state != nullptr && is_contested(*delivery.state);
    if (delivery.must_refuse.empty() && !delivery.may_refuse && !store_was_away && !contested)
      violated("a good state was refused: " + delivery.sent->tool + ", message " +
               std::to_string(delivery.sent->number));
    return;
  }
  const std::uint32_t round = delivery.state == nullptr ? 1 : delivery.state->round + 1;
  if (fault.message == "Too many rounds" && round > 16) return;
  // The store was away, or the process that served the first copy is gone.
  if (fault.code == protocol::internal_error && delivery.state != nullptr &&
      is_single_use(delivery.sent->tool))
    return;
  // The deadline came while the handler ran.
  if (fault.code == protocol::internal_error && delivery.visit != nullptr &&
      delivery.arrived + minutes(1) >= deadlines[delivery.visit->flow])
    return;
  violated("an error that nothing explains: " + fault.message);
}

// What the new state must hold: the answers of the old one, and those that came with the message.
void World::issued(const Delivery& delivery, const Visit& visit, const Reply& reply) {
  const Json token = at(reply, {"requestState"});
  const Json requests = at(reply, {"inputRequests"});
  if (by_token.count(*token.as_string()) != 0) return;  // a kept reply
  Issued& state = wire.emplace_back();
  state.token = *token.as_string();
  by_token[state.token] = &state;
  state.principal = visit.sent->principal;
  state.tool = visit.sent->tool;
  state.order = visit.sent->order;
  state.of_stranger = delivery.instance == stranger;
  state.round = visit.round;
  const Timestamp deadline = deadlines[visit.flow];
  const Timestamp now = fleet[static_cast<std::size_t>(delivery.instance)].clock->now();
  // Sealed after the visit began; how long after, a reply that was kept does not show, and clocks differ by 40 s.
  state.good_until = std::min(visit.arrived + lifetime, deadline);
  state.good_no_longer = std::min(now + lifetime + seconds(40), deadline);
  state.drawn = visit.drawn;

  if (visit.state != nullptr) {
    state.answered = visit.state->answered;
    for (const auto& [key, words] : visit.state->asked) {
      const auto given = visit.sent->given.find(key);
      if (given == visit.sent->given.end() || !given->second.fits) continue;
      state.answered.insert_or_assign(key, Answered{words, given->second.text});
    }
  }
  for (const auto& [key, answered] : visit.seen) state.answered.insert_or_assign(key, answered);
  for (const auto& [key, request] : *requests.as_object()) {
    const std::string message = *at(request, {"params", "message"}).as_string();
    const std::string words = message.substr(0, message.find('\n'));
    const auto before = state.answered.find(key);
    if (before != state.answered.end()) {
      if (before->second.words == words) violated("an accepted answer was lost: " + key + " is asked again");
      ++totals.asked_again;
      state.answered.erase(before);
    }
    state.asked.emplace(key, words);
  }
}

// --- the seeds ---

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

void run_seed(int seed, Totals& totals) {
  const long frames = signet::detail::frames_alive();
  // Most worlds are small; in some a thousand flows are under way.
  const bool large = seed % 200 == 199;
  {
    World world(static_cast<std::uint64_t>(seed), large ? 50 : 4, large ? 20 : 4, totals);
    world.run();
    std::ostringstream all;
    for (const std::string& violation : world.violations) all << "  " << violation << "\n";
    EXPECT_TRUE(world.violations.empty()) << "seed " << seed << ":\n"
                                          << all.str() << "again: SIGNET_SIMULATION_SEED=" << seed
                                          << " server_test --gtest_filter=Simulation.*";
  }
  EXPECT_EQ(signet::detail::frames_alive(), frames) << "seed " << seed;
}

TEST(Simulation, HoldsItsPromisesThroughEverySeed) {
  Totals totals;
  if (std::getenv("SIGNET_SIMULATION_SEED") != nullptr) {
    run_seed(number_from("SIGNET_SIMULATION_SEED", 0), totals);
    return;
  }
#if defined(__OPTIMIZE__)
  const int seeds = number_from("SIGNET_SIMULATION_SEEDS", 500);
#else
  const int seeds = number_from("SIGNET_SIMULATION_SEEDS", 200);
#endif
  for (int seed = 0; seed < seeds && !HasFailure(); ++seed) run_seed(seed, totals);
  std::cout << "simulation: " << seeds << " seeds, " << totals.flows << " flows, " << totals.finished
            << " finished, " << totals.effects << " effects; " << totals.attacks << " attacks, "
            << totals.refused << " refusals (" << totals.expired << " expired); " << totals.lost << " lost, "
            << totals.doubled << " doubled, " << totals.dropped << " cut off; " << totals.restarts
            << " restarts, " << totals.rotations << " rotation steps, " << totals.asked_again
            << " asked again in other words, " << totals.kept_replies << " kept replies, "
            << totals.store_failures << " store failures\n";
  if (seeds < 100) return;
  // Nothing that is claimed was left out.
  for (const long met : {totals.finished, totals.effects, totals.attacks, totals.refused, totals.expired,
                         totals.lost, totals.doubled, totals.dropped, totals.restarts, totals.rotations,
                         totals.asked_again, totals.kept_replies, totals.store_failures}) {
    EXPECT_GT(met, 0);
  }
}

}  // namespace
}  // namespace signet::simulation
