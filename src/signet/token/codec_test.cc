#include <signet/token/codec.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <signet/base/source_dir_for_tests.h>
#include <signet/token/aead.h>
#include <signet/token/base64url.h>
#include <signet/token/sealer.h>
#include <signet/token/testing.h>

namespace signet::token {
namespace {

using std::chrono::milliseconds;
using testing::NoExecutor;
using testing::run;

constexpr Timestamp start{milliseconds(1'790'000'000'000)};

TEST(NativeCodec, SealsAndOpensPlaintextsOfEverySize) {
  ManualClock clock{start};
  NoExecutor executor;
  NativeCodec codec(ephemeral_ring(system_entropy()), clock, system_entropy());
  for (std::size_t size = 0; size < 200; ++size) {
    const Bytes plaintext(size, static_cast<std::uint8_t>(size));
    const std::string token = run(codec.seal(plaintext, start, executor)).value();
    const Result<Unsealed, Refused> unsealed = run(codec.open(token, executor));
    ASSERT_TRUE(unsealed.ok());
    EXPECT_EQ(unsealed->plaintext, plaintext);
    EXPECT_EQ(unsealed->key_id, native_key_id(token));
  }
}

TEST(NativeCodec, TheTokenIdIsTheNonce) {
  ManualClock clock{start};
  testing::FixedEntropy entropy{Bytes(24, 0xab)};
  NativeCodec codec(ephemeral_ring(system_entropy()), clock, entropy);
  const std::string token = codec.immediate()->seal_now(as_bytes("a"), as_bytes("b")).value();
  const Unsealed unsealed = codec.immediate()->open_now(token).value();
  EXPECT_EQ(hex(unsealed.token_id), hex(Bytes(24, 0xab)));
  EXPECT_EQ(as_text(unsealed.plaintext), "ab");
}

// The lines `name  value` of the worked example in doc/token_format.md, white space inside values removed.
std::map<std::string, std::string> worked_example() {
  std::ifstream page(signet::testing::source_dir() + "/doc/token_format.md");
  std::map<std::string, std::string> example;
  constexpr std::size_t name_width = 13;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    inside = inside || line == "## Worked example";
    if (!inside || line.size() <= name_width) continue;
    std::string name = line.substr(0, name_width);
    name.erase(name.find_last_not_of(' ') + 1);
    std::string value = line.substr(name_width);
    std::erase(value, ' ');
    example.emplace(name, value);
  }
  return example;
}

TEST(NativeCodec, MakesTheTokenOfTheWorkedExample) {
  std::map<std::string, std::string> example = worked_example();
  std::vector<KeyEntry> entries(1);
  entries[0].id = example["key id"];
  entries[0].secret = Secret(testing::unhex(example["secret"]));
  entries[0].stage = KeyStage::seal;
  const auto ring = KeyRing::make(std::move(entries)).value();
  EXPECT_EQ(hex(ring->sealing().derive("request-state").expose()), example["key"]);

  ManualClock clock{start};
  testing::FixedEntropy entropy{testing::unhex(example["nonce"])};
  const auto codec = std::make_shared<NativeCodec>(std::make_shared<SharedRing>(ring), clock, entropy);
  Sealer sealer(codec, Policy(), clock, entropy);
  Binding binding;
  binding.method = "tools/call";
  binding.target = "deploy";
  binding.arguments = sha256(as_bytes(R"({"env":"prod"})"));
  binding.audience = "tickets";
  binding.principal = Principal::authenticated("alice");
  binding.protocol_version = "2026-07-28";
  Flow flow;
  const Bytes flow_id = testing::unhex(example["flow id"]);
  ASSERT_EQ(flow_id.size(), flow.id.size());
  std::copy(flow_id.begin(), flow_id.end(), flow.id.begin());
  flow.deadline = start + std::chrono::hours(24);
  const std::string token = sealer.seal_now(binding, flow, as_bytes(R"({"step":1})")).value();
  EXPECT_EQ(token, example["token"]);

  const Bytes raw = decode_base64url(token.substr(token.rfind('.') + 1)).value();
  EXPECT_EQ(hex(raw), example["nonce"] + example["ciphertext"] + example["tag"]);
  std::string plaintext;
  for (const char* name : {"layout", "flow id", "round", "issued at", "expires at", "deadline", "arguments",
                           "principal", "method", "target", "audience", "principal id", "version", "state"}) {
    plaintext += example[name];
  }
  EXPECT_EQ(hex(codec->immediate()->open_now(token)->plaintext), plaintext);
}

TEST(NativeCodec, AnInstanceOpensWhatAnotherSealedWithTheSameRing) {
  ManualClock clock{start};
  const auto rings = ephemeral_ring(system_entropy());
  NativeCodec one(rings, clock, system_entropy());
  NativeCodec other(rings, clock, system_entropy());
  NativeCodec stranger(ephemeral_ring(system_entropy()), clock, system_entropy());
  const std::string token = one.immediate()->seal_now(as_bytes("x"), {}).value();
  EXPECT_TRUE(other.immediate()->open_now(token).ok());
  EXPECT_EQ(stranger.immediate()->open_now(token).error().reason, Refusal::unknown_key);
}

TEST(NativeCodec, ASourceWithoutARingIsUnavailable) {
  ManualClock clock{start};
  NoExecutor executor;
  const auto fetch = [](Executor&) -> Task<Result<std::shared_ptr<const KeyRing>>> {
    co_return failure("away");
  };
  const auto rings = std::make_shared<FetchedRing>(fetch, FetchedRing::Times(), clock, LogSink());
  NativeCodec codec(rings, clock, system_entropy());
  EXPECT_EQ(codec.immediate(), nullptr);
  EXPECT_EQ(run(codec.seal(Bytes(), start, executor)).error().message, "away");
  EXPECT_EQ(run(codec.open("sg1.k." + std::string(54, 'A'), executor)).error().reason, Refusal::unavailable);
}

Task<Result<std::shared_ptr<const KeyRing>>> count_and_fail(int& fetches) {
  ++fetches;
  co_return failure("away");
}

TEST(NativeCodec, WhatIsNoTokenByItsFormNeedsNoRing) {
  ManualClock clock{start};
  NoExecutor executor;
  int fetches = 0;
  const auto fetch = [&fetches](Executor&) { return count_and_fail(fetches); };
  const auto rings = std::make_shared<FetchedRing>(fetch, FetchedRing::Times(), clock, LogSink());
  NativeCodec codec(rings, clock, system_entropy());
  const std::string shortest(54, 'A');  // a nonce and a tag
  for (const std::string& token :
       {std::string(), std::string("sg1."), std::string("sg1.k"), "sg1.k k." + shortest, "sg2.k." + shortest,
        "sg1.k." + shortest.substr(1), "sg1.k." + shortest + "=", "sg1.k." + shortest + "AAA",
        "sg1.k.!" + shortest.substr(1), "sg1.k." + shortest.substr(1) + "B"}) {
    EXPECT_EQ(run(codec.open(token, executor)).error().reason, Refusal::malformed) << token;
  }
  EXPECT_EQ(fetches, 0);
  EXPECT_EQ(run(codec.open("sg1.k." + shortest, executor)).error().reason, Refusal::unavailable);
  EXPECT_EQ(fetches, 1);
}

TEST(NativeCodec, FindsTheKeyIdOfNativeTokensAlone) {
  EXPECT_EQ(native_key_id("sg1.k-1.AAAA"), "k-1");
  for (const char* token : {"", "sg1.", "sg1.k", "sg2.k.AAAA", "sg1..AAAA", "sg1.k k.AAAA", "v1.k.AAAA"}) {
    EXPECT_FALSE(native_key_id(token)) << token;
  }
}

// The nonces of tokens that a child seals after the parent has sealed.
std::set<TokenId> sealed_by_child(NativeCodec& codec, int count) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < count; ++i) {
      const std::string token = codec.immediate()->seal_now(as_bytes("child"), {}).value();
      const TokenId id = codec.immediate()->open_now(token)->token_id;
      if (::write(ends[1], id.data(), id.size()) != static_cast<ssize_t>(id.size())) ::_exit(1);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::set<TokenId> ids;
  TokenId id;
  for (std::size_t have = 0;;) {
    const ssize_t got = ::read(ends[0], id.data() + have, id.size() - have);
    if (got <= 0) break;
    have = (have + static_cast<std::size_t>(got)) % id.size();
    if (have == 0) ids.insert(id);
  }
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return ids;
}

TEST(NativeCodec, ParentAndChildNeverShareANonceAfterAFork) {
  ManualClock clock{start};
  NativeCodec codec(ephemeral_ring(system_entropy()), clock, system_entropy());
  std::set<TokenId> ids;
  const auto seal_some = [&codec, &ids](int count) {
    for (int i = 0; i < count; ++i) {
      const std::string token = codec.immediate()->seal_now(as_bytes("parent"), {}).value();
      ids.insert(codec.immediate()->open_now(token)->token_id);
    }
  };
  seal_some(1);
  ids.merge(sealed_by_child(codec, 200));
  ids.merge(sealed_by_child(codec, 200));
  seal_some(200);
  EXPECT_EQ(ids.size(), 601u);
}

}  // namespace
}  // namespace signet::token
