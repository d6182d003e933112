#include <signet/token/reference.h>

#include <gtest/gtest.h>

#include <map>

#include <signet/token/sealer.h>
#include <signet/token/testing.h>

namespace signet::token {
namespace {

using std::chrono::milliseconds;
using testing::NoExecutor;
using testing::run;

constexpr Timestamp start{milliseconds(1'790'000'000'000)};

class MapStore final : public StateStore {
 public:
  Task<Result<void>> put(StateId id, Bytes value, Timestamp expires_at, Executor&) override {
    if (away) co_return failure("the store is away");
    last_expiry = expires_at;
    values[id] = std::move(value);
    co_return Result<void>();
  }
  Task<Result<std::optional<Bytes>>> get(StateId id, Executor&) override {
    if (away) co_return failure("the store is away");
    const auto found = values.find(id);
    if (found == values.end()) co_return std::optional<Bytes>();
    co_return std::optional<Bytes>(found->second);
  }
  Task<Result<void>> erase(StateId id, Executor&) override {
    values.erase(id);
    co_return Result<void>();
  }

  std::map<StateId, Bytes> values;
  Timestamp last_expiry{};
  bool away = false;
};

struct ReferenceCodecTest : ::testing::Test {
  ManualClock clock{start};
  NoExecutor executor;
  std::shared_ptr<MapStore> store = std::make_shared<MapStore>();
  std::shared_ptr<Codec> native =
      std::make_shared<NativeCodec>(ephemeral_ring(system_entropy()), clock, system_entropy());
  ReferenceCodec codec{native, store, system_entropy(), 100};

  std::string seal(const Bytes& plaintext) { return run(codec.seal(plaintext, start, executor)).value(); }
  Refusal refusal(const std::string& token) { return run(codec.open(token, executor)).error().reason; }
};

TEST_F(ReferenceCodecTest, KeepsLargeStatesAndHandsOutAShortReference) {
  const Bytes large(200'000, 'x');
  const std::string token = seal(large);
  EXPECT_LT(token.size(), 200u);
  EXPECT_EQ(store->last_expiry, start);
  const Result<Unsealed, Refused> unsealed = run(codec.open(token, executor));
  ASSERT_TRUE(unsealed.ok());
  EXPECT_EQ(unsealed->plaintext, large);
}

TEST_F(ReferenceCodecTest, SmallStatesTravelInTheToken) {
  const std::string at_limit = seal(Bytes(100, 1));
  EXPECT_TRUE(store->values.empty());
  EXPECT_EQ(run(codec.open(at_limit, executor))->plaintext, Bytes(100, 1));
  seal(Bytes(101, 1));
  EXPECT_EQ(store->values.size(), 1u);
}

TEST_F(ReferenceCodecTest, TheStoreSeesNoPlaintext) {
  seal(Bytes(1000, 'x'));
  const std::string kept(as_text(store->values.begin()->second));
  EXPECT_EQ(kept.find("xxxx"), std::string::npos);
}

TEST_F(ReferenceCodecTest, TheStoreCannotPutAnotherStateInItsPlace) {
  const std::string one = seal(Bytes(1000, '1'));
  const Bytes first = store->values.begin()->second;
  store->values.clear();
  const std::string two = seal(Bytes(1000, '2'));
  store->values.begin()->second = first;
  EXPECT_EQ(refusal(two), Refusal::not_authentic);
  EXPECT_EQ(refusal(one), Refusal::expired) << "its own entry is gone";
}

TEST_F(ReferenceCodecTest, SaysWhatIsGoneAndWhatIsAway) {
  const std::string token = seal(Bytes(1000, 'x'));
  store->away = true;
  EXPECT_EQ(refusal(token), Refusal::unavailable);
  EXPECT_FALSE(run(codec.seal(Bytes(1000, 'x'), start, executor)).ok());
  store->away = false;
  store->values.clear();
  EXPECT_EQ(refusal(token), Refusal::expired);
}

TEST_F(ReferenceCodecTest, RefusesWhatTheSealingCodecSealedElsewhere) {
  // The same keys, but no reference codec: the first byte is neither of the two.
  EXPECT_EQ(refusal(run(native->seal(Bytes{9, 9}, start, executor)).value()), Refusal::malformed);
  EXPECT_EQ(refusal(run(native->seal(Bytes(), start, executor)).value()), Refusal::malformed);
  EXPECT_EQ(refusal(run(native->seal(Bytes{1, 1}, start, executor)).value()), Refusal::malformed);
}

TEST_F(ReferenceCodecTest, WorksUnderTheSealer) {
  Sealer sealer(std::make_shared<ReferenceCodec>(native, store, system_entropy()), Policy(), clock,
                system_entropy());
  Binding binding;
  binding.method = "tools/call";
  const Bytes state(100'000, 's');
  const std::string token = run(sealer.seal(binding, sealer.begin_flow(), state, executor)).value();
  EXPECT_EQ(store->last_expiry, start + std::chrono::seconds(300));
  EXPECT_EQ(run(sealer.open(token, binding, executor))->state, state);
  binding.method = "prompts/get";
  EXPECT_EQ(run(sealer.open(token, binding, executor)).error().reason, Refusal::other_method);
}

}  // namespace
}  // namespace signet::token
