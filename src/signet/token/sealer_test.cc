#include <signet/token/sealer.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include <signet/base/source_dir_for_tests.h>
#include <signet/token/claims_format.h>
#include <signet/token/codec.h>
#include <signet/token/foreign.h>
#include <signet/token/testing.h>

namespace signet::token {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Block;
using testing::NoExecutor;
using testing::run;
using testing::SeededEntropy;
using testing::unhex;

constexpr Timestamp start{milliseconds(1'790'000'000'000)};

Timestamp time_of(const std::string& text) { return Timestamp(milliseconds(std::stoll(text))); }

Principal principal_of(const std::string& text) {
  if (text == "anonymous") return Principal::anonymous();
  if (text == "local") return Principal::local();
  return Principal::authenticated(text.substr(text.find(' ') + 1));
}

Binding binding_of(const Block& block) {
  Binding binding;
  binding.method = block.at("method");
  binding.target = block.at("target");
  const Bytes arguments = unhex(block.at("arguments"));
  std::copy(arguments.begin(), arguments.end(), binding.arguments.begin());
  binding.audience = block.at("audience");
  binding.principal = principal_of(block.at("principal"));
  binding.protocol_version = block.at("version");
  return binding;
}

std::shared_ptr<const KeyRing> ring_of(const std::vector<Block>& blocks) {
  std::vector<KeyEntry> entries;
  for (const Block& block : blocks) {
    if (!block.contains("key")) continue;
    KeyEntry entry;
    entry.id = block.at("key");
    entry.secret = Secret(unhex(block.at("secret")));
    entry.stage = block.at("stage") == "seal"     ? KeyStage::seal
                  : block.at("stage") == "retire" ? KeyStage::retire
                                                  : KeyStage::accept;
    if (block.contains("retires_at")) entry.retires_at = time_of(block.at("retires_at"));
    entries.push_back(std::move(entry));
  }
  return KeyRing::make(std::move(entries)).value();
}

// A sealer over a ring of its own, with a clock that the test moves.
struct Fixture {
  explicit Fixture(std::shared_ptr<const KeyRing> keys, Policy policy = Policy())
      : ring(std::make_shared<SharedRing>(std::move(keys))),
        sealer(std::make_shared<NativeCodec>(ring, clock, entropy), policy, clock, entropy) {}
  Fixture() : Fixture(fresh_ring()) {}

  static std::shared_ptr<const KeyRing> fresh_ring() {
    std::vector<KeyEntry> entries;
    entries.push_back(generate_key("k1", KeyStage::seal, start, system_entropy()));
    entries.push_back(generate_key("k2", KeyStage::accept, start, system_entropy()));
    return KeyRing::make(std::move(entries)).value();
  }

  ManualClock clock{start};
  Entropy& entropy = system_entropy();
  std::shared_ptr<SharedRing> ring;
  Sealer sealer;
};

Binding alice() {
  Binding binding;
  binding.method = "tools/call";
  binding.target = "deploy";
  binding.arguments = sha256(as_bytes("{}"));
  binding.audience = "tickets";
  binding.principal = Principal::authenticated("alice");
  binding.protocol_version = "2026-07-28";
  return binding;
}

std::string seal(Sealer& sealer, const Binding& binding, std::string_view state = "state",
                 std::optional<milliseconds> lifetime = std::nullopt) {
  return sealer.seal_now(binding, sealer.begin_flow(), as_bytes(state), lifetime).value();
}

std::optional<Refusal> refusal_of_opening(Sealer& sealer, std::string_view token, const Binding& binding) {
  Result<Opened, Refused> opened = sealer.open_now(token, binding);
  if (opened) return std::nullopt;
  return opened.error().reason;
}

TEST(Sealer, AgreesWithTheVectorsOfTheSecondImplementation) {
  const std::vector<Block> blocks =
      testing::read_blocks(signet::testing::source_dir() + "/src/signet/token/testdata/native.txt");
  const std::shared_ptr<const KeyRing> ring = ring_of(blocks);
  Block defaults;
  std::set<std::string> expectations;
  for (const Block& block : blocks) {
    if (block.contains("request")) defaults = block;
    if (!block.contains("expect")) continue;
    Block vector = block;
    vector.insert(defaults.begin(), defaults.end());
    Policy policy;
    if (vector.contains("accepted_bytes_max"))
      policy.accepted_bytes_max = std::stoul(vector["accepted_bytes_max"]);
    Fixture fixture(ring, policy);
    fixture.clock.set(time_of(vector.at("now")));

    const Result<Opened, Refused> opened = fixture.sealer.open_now(vector.at("token"), binding_of(vector));
    const std::string outcome = opened ? "open" : std::string(to_string(opened.error().reason));
    EXPECT_EQ(outcome, vector.at("expect")) << vector.at("comment");
    expectations.insert(vector.at("expect"));
    if (!opened) continue;
    EXPECT_EQ(hex(opened->state), vector.at("state")) << vector.at("comment");
    EXPECT_EQ(hex(opened->flow.id), vector.at("flow"));
    EXPECT_EQ(std::to_string(opened->flow.round), vector.at("round"));
    EXPECT_EQ(opened->issued_at, time_of(vector.at("issued")));
    EXPECT_EQ(opened->expires_at, time_of(vector.at("expires")));
    EXPECT_EQ(opened->flow.deadline, time_of(vector.at("deadline")));
  }
  // All that opening alone can say: already_used is the store's, unavailable needs a codec that is away.
  EXPECT_EQ(expectations.size(), 1u + 15u);
}

TEST(Sealer, OpensWhatItSealedForRandomStatesBindingsAndRings) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  SeededEntropy entropy(seed);
  const auto text = [&](std::size_t size_max) {
    Bytes bytes(random() % (size_max + 1));
    entropy.fill(bytes);
    return std::string(as_text(bytes));
  };
  for (int i = 0; i < 300; ++i) {
    std::vector<KeyEntry> entries;
    const std::size_t keys = 1 + random() % 5;
    const std::size_t sealing = random() % keys;
    for (std::size_t k = 0; k < keys; ++k) {
      entries.push_back(generate_key("key" + std::to_string(k),
                                     k == sealing ? KeyStage::seal : KeyStage::accept, start, entropy));
    }
    Fixture fixture(KeyRing::make(std::move(entries)).value());
    Binding binding;
    binding.method = text(80);
    binding.target = text(200);
    entropy.fill(binding.arguments);
    binding.audience = text(80);
    binding.principal = random() % 2 == 0 ? Principal::anonymous() : Principal::authenticated(text(80));
    binding.protocol_version = text(20);
    const std::string state = text(5000);
    Flow flow = fixture.sealer.begin_flow();
    flow.round = 1 + static_cast<std::uint32_t>(random() % 16);

    const std::string token = fixture.sealer.seal_now(binding, flow, as_bytes(state)).value();
    const Result<Opened, Refused> opened = fixture.sealer.open_now(token, binding);
    ASSERT_TRUE(opened.ok()) << to_string(opened.error().reason);
    EXPECT_EQ(as_text(opened->state), state);
    EXPECT_EQ(opened->flow.id, flow.id);
    EXPECT_EQ(opened->flow.round, flow.round);
    EXPECT_EQ(opened->flow.deadline, flow.deadline);
    EXPECT_EQ(opened->key_id, "key" + std::to_string(sealing));
  }
}

TEST(Sealer, RefusesEverySingleBitFlipTruncationAndExtension) {
  Fixture fixture;
  for (std::size_t size = 0; size < 4; ++size) {  // every remainder of base64
    const std::string token = seal(fixture.sealer, alice(), std::string(size, 's'));
    ASSERT_EQ(refusal_of_opening(fixture.sealer, token, alice()), std::nullopt);
    for (std::size_t bit = 0; bit < token.size() * 8; ++bit) {
      std::string flipped = token;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      ASSERT_NE(refusal_of_opening(fixture.sealer, flipped, alice()), std::nullopt) << "bit " << bit;
    }
    for (std::size_t kept = 0; kept < token.size(); ++kept) {
      ASSERT_NE(refusal_of_opening(fixture.sealer, token.substr(0, kept), alice()), std::nullopt) << kept;
      ASSERT_NE(refusal_of_opening(fixture.sealer, token.substr(token.size() - kept), alice()), std::nullopt)
          << kept;
    }
    for (int byte = 0; byte < 256; ++byte) {
      for (std::size_t at = 0; at <= token.size(); ++at) {
        std::string extended = token;
        extended.insert(at, 1, static_cast<char>(byte));
        ASSERT_NE(refusal_of_opening(fixture.sealer, extended, alice()), std::nullopt)
            << byte << " at " << at;
      }
    }
  }
}

TEST(Sealer, RefusesEveryReplacedCharacter) {
  Fixture fixture;
  const std::string token = seal(fixture.sealer, alice(), "ab");
  for (std::size_t at = 0; at < token.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = token;
      changed[at] = static_cast<char>(byte);
      if (changed != token) {
        ASSERT_NE(refusal_of_opening(fixture.sealer, changed, alice()), std::nullopt) << byte << " at " << at;
      }
    }
  }
}

TEST(Sealer, NamesTheOneBindingThatWasSwapped) {
  Fixture fixture;
  const std::string token = seal(fixture.sealer, alice());
  struct Swap {
    Refusal expected;
    std::function<void(Binding&)> change;
  };
  const std::vector<Swap> swaps = {
      {Refusal::other_method, [](Binding& b) { b.method = "prompts/get"; }},
      {Refusal::other_method, [](Binding& b) { b.method.clear(); }},
      {Refusal::other_target, [](Binding& b) { b.target = "deploy2"; }},
      {Refusal::other_target, [](Binding& b) { b.target.clear(); }},
      {Refusal::other_arguments, [](Binding& b) { b.arguments[31] ^= 1; }},
      {Refusal::other_audience, [](Binding& b) { b.audience = "Tickets"; }},
      {Refusal::other_audience, [](Binding& b) { b.audience.clear(); }},
      {Refusal::other_principal, [](Binding& b) { b.principal = Principal::authenticated("bob"); }},
      {Refusal::other_principal, [](Binding& b) { b.principal = Principal::anonymous(); }},
      {Refusal::other_principal, [](Binding& b) { b.principal = Principal::local(); }},
      {Refusal::other_version, [](Binding& b) { b.protocol_version = "2025-11-25"; }},
  };
  for (const Swap& swap : swaps) {
    Binding other = alice();
    swap.change(other);
    EXPECT_EQ(refusal_of_opening(fixture.sealer, token, other), swap.expected) << to_string(swap.expected);
    // And the other way round: present where none is expected is as wrong as absent.
    EXPECT_EQ(refusal_of_opening(fixture.sealer, seal(fixture.sealer, other), alice()), swap.expected);
  }
}

TEST(Sealer, AcceptsNoneOfAMillionForgedTokens) {
  Fixture fixture;
  const Binding binding = alice();
  const std::string genuine = seal(fixture.sealer, binding);
  std::mt19937_64 random(7);
  std::string forged = genuine;
  const std::size_t body = genuine.rfind('.') + 1;
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  int accepted = 0;
  int by_the_tag = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    // Two characters of a genuine token; now and then all of them.
    forged = genuine;
    const std::size_t changes = i % 64 == 0 ? forged.size() : 2;
    for (std::size_t k = 0; k < changes; ++k) {
      forged[body + random() % (forged.size() - body)] = alphabet[random() % 64];
    }
    if (forged == genuine) continue;
    const std::optional<Refusal> refusal = refusal_of_opening(fixture.sealer, forged, binding);
    accepted += !refusal.has_value();
    by_the_tag += refusal == Refusal::not_authentic;
  }
  EXPECT_EQ(accepted, 0);
  EXPECT_GT(by_the_tag, 900'000) << "most forgeries must get as far as the tag, or this tests too little";
}

TEST(Sealer, NoTwoTokensShareAnId) {
  Fixture fixture;
  std::set<TokenId> ids;
  for (int i = 0; i < 2000; ++i) {
    ids.insert(fixture.sealer.open_now(seal(fixture.sealer, alice()), alice())->token_id);
  }
  EXPECT_EQ(ids.size(), 2000u);
}

TEST(Sealer, LivesAsLongAsThePolicySays) {
  Fixture fixture;
  const std::string token = seal(fixture.sealer, alice());
  fixture.clock.set(start + seconds(600) - milliseconds(1));
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, alice()), std::nullopt);
  fixture.clock.set(start + seconds(600));
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, alice()), Refusal::expired);
}

TEST(Sealer, ACallMaySetAnotherLifetime) {
  Fixture fixture;
  const std::string longer = seal(fixture.sealer, alice(), "s", seconds(3600));
  const std::string shorter = seal(fixture.sealer, alice(), "s", seconds(5));
  fixture.clock.set(start + seconds(3599));
  EXPECT_EQ(refusal_of_opening(fixture.sealer, longer, alice()), std::nullopt);
  fixture.clock.set(start + seconds(5));
  EXPECT_EQ(refusal_of_opening(fixture.sealer, shorter, alice()), Refusal::expired);
}

TEST(Sealer, AnonymousStatesLiveShorterWhateverTheCallSays) {
  Fixture fixture;
  Binding anonymous = alice();
  anonymous.principal = Principal::anonymous();
  for (const std::string& token :
       {seal(fixture.sealer, anonymous), seal(fixture.sealer, anonymous, "s", seconds(3600))}) {
    fixture.clock.set(start + seconds(299));
    EXPECT_EQ(refusal_of_opening(fixture.sealer, token, anonymous), std::nullopt);
    fixture.clock.set(start + seconds(300));
    EXPECT_EQ(refusal_of_opening(fixture.sealer, token, anonymous), Refusal::expired);
    fixture.clock.set(start);
  }
  Binding local = alice();
  local.principal = Principal::local();
  const std::string token = seal(fixture.sealer, local);
  fixture.clock.set(start + seconds(599));
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, local), std::nullopt);
}

TEST(Sealer, StaysWithinItsStampsWhateverTheClockAndThePolicySay) {
  constexpr milliseconds times[] = {milliseconds::min(), milliseconds(-1), milliseconds(0), milliseconds(1),
                                    milliseconds::max()};
  const std::shared_ptr<const KeyRing> ring = Fixture::fresh_ring();
  for (const milliseconds life : times) {
    Policy policy;
    policy.lifetime = policy.flow_lifetime = policy.clock_skew = life;
    Fixture fixture(ring, policy);
    for (const Timestamp now : {Timestamp::min(), Timestamp(milliseconds(-1)), Timestamp(), start,
                                latest_stamp, latest_stamp + milliseconds(1), Timestamp::max()}) {
      fixture.clock.set(now);
      const Flow flow = fixture.sealer.begin_flow(life);
      EXPECT_GE(flow.deadline, Timestamp());
      EXPECT_LE(flow.deadline, latest_stamp);
      const Result<std::string> token = fixture.sealer.seal_now(alice(), flow, as_bytes("s"), life);
      EXPECT_EQ(token.ok(), life > milliseconds(0) && now < latest_stamp);
      if (!token) continue;
      for (const Timestamp then : {Timestamp::min(), now, Timestamp::max()}) {
        fixture.clock.set(then);
        const std::optional<Refusal> refusal = refusal_of_opening(fixture.sealer, *token, alice());
        if (then == now) {
          EXPECT_EQ(refusal, std::nullopt);
        } else {
          EXPECT_NE(refusal, Refusal::malformed);
        }
      }
    }
  }
}

TEST(Sealer, SealingAgainDoesNotMoveTheDeadlineOfTheFlow) {
  Fixture fixture;
  Flow flow = fixture.sealer.begin_flow();
  EXPECT_EQ(flow.deadline, start + std::chrono::hours(24));
  EXPECT_EQ(fixture.sealer.begin_flow(seconds(10)).deadline, start + seconds(10));
  EXPECT_EQ(fixture.sealer.begin_flow(std::chrono::hours(48)).deadline, start + std::chrono::hours(24));

  fixture.clock.set(flow.deadline - seconds(10));
  const std::string token = fixture.sealer.seal_now(alice(), flow, as_bytes("s")).value();
  const Result<Opened, Refused> opened = fixture.sealer.open_now(token, alice());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->expires_at, flow.deadline) << "a state does not outlive its flow";
  fixture.clock.set(flow.deadline);
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, alice()), Refusal::flow_expired);
  EXPECT_FALSE(fixture.sealer.seal_now(alice(), flow, as_bytes("s")).ok());
}

TEST(Sealer, SealsAndOpensUpToTheLastRoundAndNoFurther) {
  Fixture fixture;
  Flow flow = fixture.sealer.begin_flow();
  flow.round = 16;
  const std::string token = fixture.sealer.seal_now(alice(), flow, as_bytes("s")).value();
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, alice()), std::nullopt);
  flow.round = 17;
  EXPECT_FALSE(fixture.sealer.seal_now(alice(), flow, as_bytes("s")).ok());
  flow.round = 0;
  EXPECT_FALSE(fixture.sealer.seal_now(alice(), flow, as_bytes("s")).ok());
}

TEST(Sealer, EmitsAndAcceptsUpToTheLimitsAndNotAByteMore) {
  const std::shared_ptr<const KeyRing> ring = Fixture::fresh_ring();
  Fixture measuring(ring);
  const std::size_t size = seal(measuring.sealer, alice()).size();
  Policy exact;
  exact.sealed_bytes_max = size;
  exact.accepted_bytes_max = size;
  Fixture fixture(ring, exact);
  const std::string token = seal(fixture.sealer, alice());
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, alice()), std::nullopt);
  const Result<std::string> larger =
      fixture.sealer.seal_now(alice(), fixture.sealer.begin_flow(), as_bytes("state and more"));
  ASSERT_FALSE(larger.ok());
  EXPECT_NE(larger.error().message.find("limit"), std::string::npos);
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token + "A", alice()), Refusal::too_large);
}

TEST(Sealer, TellsTheLogTheKeyAndTheAgeOfWhatItRefused) {
  Fixture fixture;
  const std::string token = seal(fixture.sealer, alice());
  fixture.clock.advance(seconds(700));
  const Refused refused = fixture.sealer.open_now(token, alice()).error();
  EXPECT_EQ(refused.reason, Refusal::expired);
  EXPECT_EQ(refused.key_id, "k1");
  EXPECT_EQ(refused.age, seconds(700));
  EXPECT_EQ(fixture.sealer.open_now("sg1.k9.AAAA", alice()).error().age, std::nullopt);
}

TEST(Sealer, ARetiredKeyOpensUntilItsDate) {
  std::vector<KeyEntry> before;
  before.push_back(generate_key("old", KeyStage::seal, start, system_entropy()));
  KeyEntry retired;
  retired.id = "old";
  retired.secret = before.front().secret.clone();
  retired.stage = KeyStage::retire;
  retired.retires_at = start + seconds(100);
  Fixture fixture(KeyRing::make(std::move(before)).value());
  const std::string token = seal(fixture.sealer, alice());

  std::vector<KeyEntry> after;
  after.push_back(generate_key("new", KeyStage::seal, start, system_entropy()));
  after.push_back(std::move(retired));
  fixture.ring->replace(KeyRing::make(std::move(after)).value());
  fixture.clock.set(start + seconds(100) - milliseconds(1));
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, alice()), std::nullopt);
  EXPECT_EQ(fixture.sealer.open_now(seal(fixture.sealer, alice()), alice())->key_id, "new");
  fixture.clock.set(start + seconds(100));
  EXPECT_EQ(refusal_of_opening(fixture.sealer, token, alice()), Refusal::key_retired);
}

// A codec that is no cipher at all, to see that claims are stamped and verified outside codecs.
class PlainCodec final : public Codec {
 public:
  Task<Result<std::string>> seal(Bytes plaintext, Timestamp expires_at, Executor&) override {
    expires = expires_at;
    co_return "plain." + std::string(as_text(plaintext));
  }
  Task<Result<Unsealed, Refused>> open(std::string token, Executor&) override {
    if (away) {
      Refused refused;
      refused.reason = Refusal::unavailable;
      co_return failure(refused);
    }
    Unsealed unsealed;
    unsealed.plaintext = Bytes(token.begin() + 6, token.end());
    co_return unsealed;
  }
  bool recognizes(std::string_view token) const override { return token.starts_with("plain."); }

  bool away = false;
  Timestamp expires{};
};

TEST(Sealer, StampsAndVerifiesTheClaimsOfEveryCodec) {
  ManualClock clock{start};
  NoExecutor executor;
  const auto codec = std::make_shared<PlainCodec>();
  Sealer sealer(codec, Policy(), clock, system_entropy());
  EXPECT_FALSE(sealer.immediate());
  const std::string token = run(sealer.seal(alice(), sealer.begin_flow(), Bytes{1, 2}, executor)).value();
  EXPECT_EQ(codec->expires, start + seconds(600));
  EXPECT_EQ(run(sealer.open(token, alice(), executor))->state, (Bytes{1, 2}));

  Binding bob = alice();
  bob.principal = Principal::authenticated("bob");
  EXPECT_EQ(run(sealer.open(token, bob, executor)).error().reason, Refusal::other_principal);
  EXPECT_EQ(run(sealer.open("plain.nothing", alice(), executor)).error().reason, Refusal::malformed);
  codec->away = true;
  EXPECT_EQ(run(sealer.open(token, alice(), executor)).error().reason, Refusal::unavailable);
}

TEST(Sealer, TheAwaitedWayDoesWhatTheImmediateOneDoes) {
  Fixture fixture;
  NoExecutor executor;
  ASSERT_TRUE(fixture.sealer.immediate());
  const std::string token =
      run(fixture.sealer.seal(alice(), fixture.sealer.begin_flow(), Bytes{7}, executor)).value();
  EXPECT_EQ(fixture.sealer.open_now(token, alice())->state, Bytes{7});
  EXPECT_EQ(run(fixture.sealer.open(token, alice(), executor))->state, Bytes{7});
}

// `other:<state>`, for the way from another system.
class OtherFormat final : public ForeignFormat {
 public:
  std::string_view name() const override { return "other-v1"; }
  Result<ForeignOpened, ForeignRefused> open(std::string_view token, const Binding&,
                                             Timestamp) const override {
    if (!token.starts_with("other:")) return failure(ForeignRefused());
    ForeignOpened opened;
    opened.state = Bytes(token.begin() + 6, token.end());
    opened.key_id = "theirs";
    return opened;
  }
  Result<std::string> seal(ByteView state, const Binding&, Timestamp, Entropy&) const override {
    return "other:" + std::string(as_text(state));
  }
};

TEST(Sealer, OpensAnotherSystemsStatesOnlyWhereThatIsConfigured) {
  ManualClock clock{start};
  const auto rings = ephemeral_ring(system_entropy());
  const auto codec = std::make_shared<NativeCodec>(rings, clock, system_entropy());
  Sealer strict(codec, Policy(), clock, system_entropy());
  EXPECT_EQ(refusal_of_opening(strict, "other:abc", alice()), Refusal::malformed);

  Migration migration;
  migration.format = std::make_shared<OtherFormat>();
  Sealer moving(codec, Policy(), clock, system_entropy(), migration);
  const Result<Opened, Refused> opened = moving.open_now("other:abc", alice());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(as_text(opened->state), "abc");
  EXPECT_EQ(opened->format, "other-v1");
  EXPECT_EQ(opened->key_id, "theirs");
  EXPECT_EQ(opened->flow.round, 1u);
  EXPECT_EQ(opened->expires_at, latest_stamp) << "what never expires is remembered as used for ever";
  EXPECT_EQ(refusal_of_opening(moving, "neither", alice()), Refusal::malformed);
  const std::string native = seal(moving, alice());
  EXPECT_TRUE(native.starts_with("sg1."));
  EXPECT_EQ(refusal_of_opening(moving, native, alice()), std::nullopt);

  migration.seal = true;
  Sealer mixed(codec, Policy(), clock, system_entropy(), migration);
  EXPECT_EQ(seal(mixed, alice(), "abc"), "other:abc");
  EXPECT_EQ(refusal_of_opening(mixed, native, alice()), std::nullopt);
}

TEST(Claims, EveryRefusalHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Refusal::unavailable); ++i)
    names.insert(to_string(static_cast<Refusal>(i)));
  EXPECT_EQ(names.size(), 17u);
}

TEST(Claims, AreReadBackFieldByFieldAndNeverFromFewerBytes) {
  Flow flow;
  flow.id.fill(9);
  flow.round = 3;
  flow.deadline = start + seconds(3);
  Binding binding = alice();
  binding.target = std::string(65, 't');
  const EncodedClaims encoded(binding, flow, start + seconds(1), start + seconds(2));
  for (std::size_t size = 0; size < encoded.bytes().size(); ++size) {
    EXPECT_FALSE(decode_claims(encoded.bytes().first(size))) << size;
  }
  const std::optional<DecodedClaims> decoded = decode_claims(encoded.bytes());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->size, encoded.bytes().size());
  EXPECT_EQ(decoded->claims.flow.id, flow.id);
  EXPECT_EQ(decoded->claims.flow.round, 3u);
  EXPECT_EQ(decoded->claims.issued_at, start + seconds(1));
  EXPECT_EQ(decoded->claims.expires_at, start + seconds(2));
  EXPECT_EQ(decoded->claims.flow.deadline, flow.deadline);
  EXPECT_EQ(as_text(decoded->claims.method.bytes()), "tools/call");
  EXPECT_TRUE(decoded->claims.target.is_digest());
  EXPECT_EQ(hex(decoded->claims.target.bytes()), hex(sha256(as_bytes(binding.target))));
  EXPECT_TRUE(decoded->claims.target.matches(binding.target));
  EXPECT_FALSE(decoded->claims.target.matches(std::string(65, 'u')));
}

}  // namespace
}  // namespace signet::token
