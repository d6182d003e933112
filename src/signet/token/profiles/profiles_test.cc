#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>

#include <signet/base/source_dir_for_tests.h>
#include <signet/token/claims_format.h>
#include <signet/token/codec.h>
#include <signet/token/key_ring.h>
#include <signet/token/profiles/format.h>
#include <signet/token/profiles/parts.h>
#include <signet/token/profiles/text.h>
#include <signet/token/profiles/vectors.h>
#include <signet/token/sealer.h>
#include <signet/token/testing.h>

namespace signet::token::profiles {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const Timestamp now{1'790'000'000'000ms};
const std::string testdata = signet::testing::source_dir() + "/src/signet/token/profiles/testdata";

ProfileConfig one_key(std::uint8_t fill = 7, std::string id = "2026-10") {
  ProfileConfig config;
  config.keys.push_back({std::move(id), Secret(Bytes(32, fill))});
  return config;
}

Context deploy() {
  Context context;
  context.method = "tools/call";
  context.params = R"({"name":"deploy","arguments":{"env":"prod","n":1}})";
  context.audience = "demo-server";
  context.principal = R"(["client-1","https://idp.example","alice"])";
  context.protocol_version = "2026-07-28";
  context.bound = "alice|deploy";
  context.now = now;
  return context;
}

std::string ids_of(const std::vector<std::string>& lines) {
  std::string ids;
  for (const std::string& line : lines) ids += line.substr(0, line.find(':')) + "\n";
  return ids;
}

TEST(Vectors, AllPassAndWhatIsStricterIsListedHere) {
  VectorReport report;
  try_vector_files(testdata, report);
  EXPECT_THAT(report.differences, IsEmpty());
  EXPECT_THAT(report.malformed, IsEmpty());
  EXPECT_THAT(report.other_reasons, IsEmpty());
  EXPECT_EQ(report.failed, 0U);
  EXPECT_EQ(report.passed + report.stricter.size(), 753U);
  EXPECT_EQ(ids_of(report.stricter),
            "argument-digests ruby {\"a\"\n"
            "argument-digests ruby {\"a\"\n"
            "argument-digests python " +
                std::string(200, '[') +
                "...\n"
                "haskell-mcp-server b64-unpadded-empty\n"
                "haskell-mcp-server b64-unpadded-3byte\n"
                "haskell-mcp-server b64-unpadded-ascii\n"
                "haskell-mcp-server b64-unpadded-utf8\n"
                "haskell-mcp-server b64-unpadded-4k\n"
                "haskell-mcp-server v-pp1\n"
                "protocol-droid mac-mixed\n"
                "protocol-droid mac-plus-sign\n"
                "ruby-sdk-v1 bind-target-name-as-uri\n"
                "ruby-sdk-v1 b64-pad-right\n"
                "ruby-sdk-v1 b64-padded-s\n"
                "ruby-sdk-v1 b64-padded-sss\n"
                "ruby-sdk-v1 tools-name-as-uri\n"
                "ruby-sdk-v1 tools-name-as-null-name\n"
                "ruby-sdk-v1 tools-name-as-false-name\n"
                "ruby-sdk-v1 tools-uri\n"
                "ruby-sdk-v1 tools-uri-as-null-name\n"
                "ruby-sdk-v1 tools-uri-as-false-name\n"
                "ruby-sdk-v1 tools-null-name\n"
                "ruby-sdk-v1 tools-false-name\n"
                "ruby-sdk-v1 prompts-name-as-uri\n"
                "ruby-sdk-v1 prompts-name-as-null-name\n"
                "ruby-sdk-v1 prompts-name-as-false-name\n"
                "ruby-sdk-v1 prompts-uri\n"
                "ruby-sdk-v1 prompts-uri-as-null-name\n"
                "ruby-sdk-v1 prompts-uri-as-false-name\n"
                "ruby-sdk-v1 prompts-null-name\n"
                "ruby-sdk-v1 prompts-false-name\n"
                "ruby-sdk-v1 resources-name\n"
                "ruby-sdk-v1 resources-name-as-both\n"
                "ruby-sdk-v1 resources-uri-as-name\n"
                "ruby-sdk-v1 resources-uri-as-both\n"
                "ruby-sdk-v1 resources-both\n"
                "ruby-sdk-v1 resources-both-reversed\n"
                "ruby-sdk-v1 resources-empty-name\n"
                "ruby-sdk-v1 v-target-3\n"
                "ruby-sdk-v1 v-target-4\n"
                "ruby-sdk-v1 v-target-12\n"
                "ruby-sdk-v1 v-sp6\n"
                "ruby-sdk-v1 v-sp7\n"
                "ruby-sdk-v1 v-sp30\n"
                "typescript-sdk-v1 b64-mac-std2\n"
                "typescript-sdk-v1 b64-mac-noncanonical\n"
                "typescript-sdk-v1 b64-mac-ws\n"
                "typescript-sdk-v1 b64-mac-lead-ws\n"
                "typescript-sdk-v1 trail-newline\n"
                "typescript-sdk-v1 env-b64-body-std\n"
                "typescript-sdk-v1 depth-901\n"
                "typescript-sdk-v1 v-env-9\n");
}

VectorReport report_of(const std::string& json) {
  VectorReport report;
  try_vectors("file", json, report);
  return report;
}

std::string droid_file(const std::string& vector) {
  return R"({"profile":"protocol-droid","vectors":[)" + vector + "]}";
}
const std::string droid_key =
    R"("key_hex":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")";

TEST(Vectors, ADifferenceIsCountedAndNamed) {
  const VectorReport report = report_of(
      droid_file(R"({"id":"x",)" + droid_key + R"(,"token":"a.b","expect":{"ok":true,"state":"b"}})"));
  EXPECT_EQ(report.failed, 1U);
  EXPECT_EQ(report.passed, 0U);
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_THAT(report.differences[0], HasSubstr("protocol-droid x: is refused as malformed"));
}

TEST(Vectors, RepeatsAndTokenExpressionsAreExpanded) {
  const VectorReport report = report_of(
      droid_file(R"({"id":"x",)" + droid_key +
                 R"(,"token":null,"token_expr":"'a'*3 + \".\" + 2*'b'","expect":{"ok":false}},{"id":"y",)" +
                 droid_key + R"(,"token":{"repeat":"ab","times":3},"expect":{"ok":false}})"));
  EXPECT_EQ(report.passed, 2U);
  EXPECT_THAT(report.malformed, IsEmpty());
}

TEST(Vectors, WhatIsNoVectorFileIsSaidAndCountsAsFailed) {
  for (const std::string& json :
       {std::string("nothing"), std::string("[]"), std::string(R"({"profile":"other","vectors":[]})"),
        std::string(R"({"profile":"protocol-droid"})"),
        std::string(R"({"profile":"protocol-droid","vectors":{}})"), droid_file("7"),
        droid_file(R"({"id":"x"})"), droid_file(R"({"id":"x","op":"melt"})"),
        droid_file(R"({"id":"x","key_hex":"zz","token":"a.b","expect":{"ok":true}})"),
        droid_file(R"({"id":"x",)" + droid_key +
                   R"~(,"token":null,"token_expr":"open('x')","expect":{"ok":false}})~"),
        droid_file(R"({"id":"x",)" + droid_key +
                   R"~(,"token":{"repeat":"a","times":1e300},"expect":{"ok":false}})~"),
        std::string(R"({"cases":[{"arguments":1}]})")}) {
    const VectorReport report = report_of(json);
    EXPECT_EQ(report.malformed.size(), 1U) << json;
    EXPECT_EQ(report.passed, 0U) << json;
    EXPECT_EQ(report.failed, 1U) << json;
  }
}

const std::string droid_token = "a7b9f7ced30ce7a9620b9aead6545ea8fc92f89dc527192ca984cacc58f625f1.step=2";

TEST(Vectors, OneThatIsMalformedLeavesTheOthers) {
  const std::string good = R"({"id":"x",)" + droid_key + R"(,"token":")" + droid_token +
                           R"(","expect":{"ok":true,"state":"step=2"}})";
  const VectorReport report = report_of(droid_file(
      good + R"(,{"id":"no token"},{"id":"too long","token":{"repeat":"a","times":1e300}},7,)" + good));
  EXPECT_EQ(report.passed, 2U);
  EXPECT_EQ(report.failed, 3U);
  EXPECT_EQ(report.malformed.size(), 3U);

  const VectorReport listed = report_of(
      R"({"profile":"protocol-droid","definitions":{"digest_vectors":[{"arguments_raw":"{}"}]},"vectors":[)" +
      good + "]}");
  EXPECT_EQ(listed.passed, 1U);
  EXPECT_EQ(listed.failed, 1U);
}

// testdata/protocol-droid.sealed.json has every place where the token may stand.
TEST(Vectors, OneThatOnlySealsNeedsATokenSomewhereAndTheRightOne) {
  const auto report_of_seal = [](const std::string& token) {
    return report_of(
        droid_file(R"({"id":"x","op":"seal",)" + droid_key + R"(,"seal":{"state":"step=2")" + token + "}}"));
  };
  EXPECT_EQ(report_of_seal(R"(,"token":")" + droid_token + '"').passed, 1U);
  const VectorReport other = report_of_seal(R"(,"token":"a.step=2")");
  EXPECT_EQ(other.failed, 1U);
  EXPECT_THAT(other.malformed, IsEmpty());
  EXPECT_EQ(report_of_seal("").failed, 1U);
  EXPECT_EQ(report_of_seal("").malformed.size(), 1U);
}

// Names in a directory of its own, which goes with it.
class VectorPaths : public ::testing::Test {
 protected:
  VectorPaths() {
    std::string name = ::testing::TempDir() + "vectors-XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~VectorPaths() override { std::filesystem::remove_all(directory_); }
  VectorReport report_of_path(const std::string& name) const {
    VectorReport report;
    try_vector_files(directory_ / name, report);
    return report;
  }
  std::filesystem::path directory_;
};

TEST_F(VectorPaths, WhatIsNoFileIsSaidAndNeverWaitedFor) {
  ASSERT_EQ(::mkfifo((directory_ / "pipe.json").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop.json", directory_ / "loop.json");
  std::filesystem::create_symlink("/dev/zero", directory_ / "device.json");
  std::filesystem::create_directory(directory_ / "folder.json");
  std::ofstream(directory_ / "empty.json");
  for (const std::string name :
       {"pipe.json", "loop.json", "device.json", "folder.json", "empty.json", "none.json"}) {
    const VectorReport report = report_of_path(name);
    EXPECT_EQ(report.malformed.size(), 1U) << name;
    EXPECT_EQ(report.failed, 1U) << name;
  }
  std::ofstream(directory_ / "good.json") << droid_file("");
  const VectorReport all = report_of_path("");
  EXPECT_EQ(all.malformed.size(), 5U);
  EXPECT_EQ(report_of_path("good.json").failed, 0U);
}

TEST_F(VectorPaths, AFileLargerThanTheLimitIsNotRead) {
  std::ofstream(directory_ / "large.json");
  std::filesystem::resize_file(directory_ / "large.json", (std::uintmax_t{64} << 20) + 1);
  const VectorReport report = report_of_path("large.json");
  ASSERT_EQ(report.malformed.size(), 1U);
  EXPECT_THAT(report.malformed[0], HasSubstr("larger than 64 MiB"));
}

// --- lengths of time ---

TEST(Durations, KeepTheDigitsOfADoubleAndOfAnInteger) {
  EXPECT_EQ(Duration::of_seconds(1796014639.3022282).seconds(), 1796014639.3022282);
  EXPECT_EQ(Duration::of_seconds(1.0 / 3).seconds(), 1.0 / 3);
  EXPECT_EQ(Duration::of_seconds(1796014639.001).milliseconds(), 1796014639001);
  EXPECT_EQ(Duration::of_seconds(1790000000.9999998).whole_seconds(), 1790000000);
  EXPECT_EQ(Duration::of_seconds(-0.5).whole_seconds(), -1);
  EXPECT_EQ(Duration(9007199254740993ms).milliseconds(), 9007199254740993);
  EXPECT_EQ(Duration(now).seconds(), 1790000000.0);
  EXPECT_EQ(Duration(600s).milliseconds(), 600'000);
}

TEST(Durations, EndWhereSixtyFourBitsEnd) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Duration::of_seconds(1e300).milliseconds(), most);
  EXPECT_EQ(Duration::of_seconds(-1e300).milliseconds(), least);
  EXPECT_EQ(Duration::of_seconds(1e300).whole_seconds(), most);
  EXPECT_EQ((Duration(std::chrono::milliseconds(most)) + 1ms).milliseconds(), most);
  EXPECT_EQ((Duration(std::chrono::milliseconds(least)) + -1ms).milliseconds(), least);
  EXPECT_EQ((Duration(std::chrono::milliseconds(most)) + -1ms).milliseconds(), most - 1);
}

TEST(Profiles, AnExpiryBeyondEveryCalendarIsTheLastStamp) {
  testing::SeededEntropy entropy(1);
  const auto profile = *make_profile("rmcp-rs1", one_key());
  const std::string token = *profile->seal("s", deploy(), std::chrono::milliseconds::max(), entropy);
  EXPECT_EQ(profile->open(token, deploy())->expires_at, latest_stamp);
  const std::string forever = *profile->seal("s", deploy(), std::nullopt, entropy);
  EXPECT_FALSE(profile->open(forever, deploy())->expires_at.has_value());
}

// --- every format alike ---

class EveryProfile : public ::testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Profile> profile_ = *make_profile(GetParam(), one_key());
  testing::SeededEntropy entropy_{20260728};
};

TEST_P(EveryProfile, OpensWhatItSealed) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string state = "\"";  // a JSON text, a text and bytes, all at once
    for (auto size = random() % 40; size > 0; --size) state += static_cast<char>('a' + random() % 26);
    state += "\"";
    auto token = profile_->seal(state, deploy(), std::nullopt, entropy_);
    ASSERT_TRUE(token.ok());
    auto opened = profile_->open(*token, deploy());
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(as_text(opened->state), state);
  }
}

TEST_P(EveryProfile, RefusesEveryChangedBitEveryCutAndEveryAddition) {
  const std::string token = *profile_->seal("\"step\"", deploy(), std::nullopt, entropy_);
  for (std::size_t i = 0; i < token.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = token;
      changed[i] = static_cast<char>(changed[i] ^ 1 << bit);
      EXPECT_FALSE(profile_->open(changed, deploy()).ok()) << changed;
    }
    EXPECT_FALSE(profile_->open(token.substr(0, i), deploy()).ok());
  }
  for (const char* more : {"A", "=", "==", " ", "\n", ".", "AAAA"}) {
    EXPECT_FALSE(profile_->open(token + more, deploy()).ok()) << more;
    EXPECT_FALSE(profile_->open(more + token, deploy()).ok()) << more;
  }
}

// What doc/profiles.md says of `once` rests on this.
TEST_P(EveryProfile, EqualStatesHaveEqualTokensExactlyWhereTheFormatHasNoNonce) {
  const std::set<std::string_view> without = {"typescript-sdk-v1", "rmcp-rs1", "rmcp-rs2", "protocol-droid"};
  const std::string first = *profile_->seal("\"step\"", deploy(), 60s, entropy_);
  EXPECT_EQ(*profile_->seal("\"step\"", deploy(), 60s, entropy_) == first, without.contains(GetParam()));
  EXPECT_NE(*profile_->seal("\"next\"", deploy(), 60s, entropy_), first);
}

TEST_P(EveryProfile, RefusesTokensOfAnotherKey) {
  const std::string token = *profile_->seal("\"step\"", deploy(), std::nullopt, entropy_);
  EXPECT_FALSE((*make_profile(GetParam(), one_key(8)))->open(token, deploy()).ok());
}

TEST_P(EveryProfile, RefusesNoKeysAndShortOnes) {
  EXPECT_FALSE(make_profile(GetParam(), ProfileConfig()).ok());
  ProfileConfig short_key;
  short_key.keys.push_back({"2026-10", Secret(Bytes(31, 7))});
  EXPECT_FALSE(make_profile(GetParam(), std::move(short_key)).ok());
}

INSTANTIATE_TEST_SUITE_P(Profiles, EveryProfile, ::testing::ValuesIn(profile_names()), [](const auto& info) {
  std::string name(info.param);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

// What each binds, and the reason for the log.
TEST(Profiles, EachBindingOfPythonIsVerifiedBothWays) {
  const auto profile = *make_profile("python-sdk-v1", one_key());
  testing::SeededEntropy entropy(1);
  const auto refusal = [&](const Context& sealed_for, const Context& shown_by) {
    const std::string token = *profile->seal("s", sealed_for, std::nullopt, entropy);
    auto opened = profile->open(token, shown_by);
    return opened.ok() ? std::string("opened") : std::string(to_string(opened.error().reason));
  };
  Context other = deploy();
  EXPECT_EQ(refusal(deploy(), other), "opened");
  other.method = "prompts/get";
  EXPECT_EQ(refusal(deploy(), other), "other_method");
  other = deploy();
  other.params = R"({"name":"destroy","arguments":{"env":"prod","n":1}})";
  EXPECT_EQ(refusal(deploy(), other), "other_target");
  other.params = R"({"name":"deploy","arguments":{"env":"prod","n":1.0}})";
  EXPECT_EQ(refusal(deploy(), other), "other_arguments");
  other = deploy();
  other.audience.reset();
  EXPECT_EQ(refusal(deploy(), other), "other_audience");
  EXPECT_EQ(refusal(other, deploy()), "other_audience");
  other = deploy();
  other.principal.reset();
  EXPECT_EQ(refusal(deploy(), other), "other_principal");
  EXPECT_EQ(refusal(other, deploy()), "other_principal");
  other = deploy();
  other.now = now + 600s;
  EXPECT_EQ(refusal(deploy(), other), "expired");
  other.now = now - 61s;
  EXPECT_EQ(refusal(deploy(), other), "issued_in_future");
}

// The original binds a name even where the method goes by its uri: we seal as it does, and open only what both mean.
TEST(Profiles, RubySealsForTheNameAndOpensNoUriInItsPlace) {
  testing::SeededEntropy entropy(1);
  const auto ruby = *make_profile("ruby-sdk-v1", one_key());
  const auto reading = [](const std::string& params) {
    Context context;
    context.method = "resources/read";
    context.params = params;
    context.now = now;
    return context;
  };
  const Context plain = reading(R"({"uri":"file:///a"})");
  const Context named = reading(R"({"uri":"file:///b","name":"file:///a"})");
  const std::string token = *ruby->seal("s", named, std::nullopt, entropy);
  EXPECT_TRUE(ruby->open(token, plain).ok());  // the original sealed it for file:///a
  const auto refused = ruby->open(token, named);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, Refusal::other_target);
  EXPECT_FALSE(refused.error().stricter.empty());
  // What the original refuses is refused as there.
  const auto other = ruby->open(*ruby->seal("s", plain, std::nullopt, entropy),
                                reading(R"({"uri":"file:///a","name":"other"})"));
  ASSERT_FALSE(other.ok());
  EXPECT_TRUE(other.error().stricter.empty());
}

TEST(Profiles, PythonTakesNoKeyTwice) {
  ProfileConfig config = one_key();
  config.keys.push_back({"", Secret(Bytes(32, 7))});
  EXPECT_FALSE(make_profile("python-sdk-v1", std::move(config)).ok());
}

TEST(Profiles, ANameThatIsNoTextIsNobodysTarget) {
  testing::SeededEntropy entropy(1);
  Context nameless = deploy();
  nameless.params = R"({"arguments":{"env":"prod","n":1}})";
  Context numbered = deploy();
  numbered.params = R"({"name":5,"arguments":{"env":"prod","n":1}})";
  const auto ruby = *make_profile("ruby-sdk-v1", one_key());
  const std::string token = *ruby->seal("s", nameless, std::nullopt, entropy);
  EXPECT_TRUE(ruby->open(token, nameless).ok());
  EXPECT_FALSE(ruby->open(token, numbered).ok());
  EXPECT_FALSE(ruby->seal("s", numbered, std::nullopt, entropy).ok());
  // Python writes str() of it.
  const auto python = *make_profile("python-sdk-v1", one_key());
  const std::string five = *python->seal("s", numbered, std::nullopt, entropy);
  EXPECT_TRUE(python->open(five, numbered).ok());
  numbered.params = R"({"name":"5","arguments":{"env":"prod","n":1}})";
  EXPECT_TRUE(python->open(five, numbered).ok());
  EXPECT_FALSE(python->open(five, nameless).ok());
}

TEST(Profiles, Rs2OpensAndSealsRs1OnlyWhereItWasTold) {
  testing::SeededEntropy entropy(1);
  const auto old_code = *make_profile("rmcp-rs1", one_key());
  const auto strict = *make_profile("rmcp-rs2", one_key());
  ProfileConfig config = one_key();
  config.rs1_fallbacks = {"2026-10"};
  config.rs1_signing = "2026-10";
  const auto rolling = *make_profile("rmcp-rs2", std::move(config));
  const std::string old_token = *old_code->seal("s", deploy(), 60s, entropy);
  EXPECT_TRUE(rolling->open(old_token, deploy()).ok());
  EXPECT_FALSE(strict->open(old_token, deploy()).ok());
  EXPECT_EQ(*rolling->seal("s", deploy(), 60s, entropy), old_token);
  ProfileConfig only_sealing = one_key();
  only_sealing.rs1_signing = "2026-10";
  const auto signing = *make_profile("rmcp-rs2", std::move(only_sealing));
  EXPECT_TRUE(signing->open(*signing->seal("s", deploy(), 60s, entropy), deploy()).ok());
  EXPECT_FALSE(
      signing->open(*(*make_profile("rmcp-rs1", one_key(8)))->seal("s", deploy(), 60s, entropy), deploy())
          .ok());
  ProfileConfig unknown = one_key();
  unknown.rs1_fallbacks = {"other"};
  EXPECT_FALSE(make_profile("rmcp-rs2", std::move(unknown)).ok());
  ProfileConfig misplaced = one_key();
  misplaced.rs1_fallbacks = {"2026-10"};
  EXPECT_FALSE(make_profile("rmcp-rs1", std::move(misplaced)).ok());
}

TEST(Profiles, ConduitLivesAMinuteForNobodyAndFiveForSomebody) {
  const auto profile = *make_profile("conduit-mcp-0.11", one_key());
  testing::SeededEntropy entropy(1);
  const auto opens_after = [&](Context context, std::chrono::milliseconds later) {
    const std::string token = *profile->seal("1", context, std::nullopt, entropy);
    context.now = now + later;
    return profile->open(token, context).ok();
  };
  Context anonymous = deploy();
  anonymous.principal.reset();
  EXPECT_TRUE(opens_after(anonymous, 59'999ms));
  EXPECT_FALSE(opens_after(anonymous, 60'000ms));
  EXPECT_TRUE(opens_after(deploy(), 299'999ms));
  EXPECT_FALSE(opens_after(deploy(), 300'000ms));
}

// --- how the systems write numbers (each line checked against that system's documentation of its format) ---

TEST(Spelling, EachSystemWritesDoublesInItsOwnWay) {
  EXPECT_EQ(python_float(1), "1.0");
  EXPECT_EQ(python_float(-0.0), "-0.0");
  EXPECT_EQ(python_float(1e16), "1e+16");
  EXPECT_EQ(python_float(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(python_float(0.0001), "0.0001");
  EXPECT_EQ(python_float(0.00001), "1e-05");
  EXPECT_EQ(python_float(1.5e-7), "1.5e-07");
  EXPECT_EQ(python_float(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(ruby_float(1e14), "100000000000000.0");
  EXPECT_EQ(ruby_float(1e15), "1.0e+15");
  EXPECT_EQ(ruby_float(1234567890123456.5), "1234567890123456.5");
  EXPECT_EQ(ruby_float(0.0001), "0.0001");
  EXPECT_EQ(ruby_float(0.00001), "1.0e-05");
  EXPECT_EQ(ruby_float(-1.5), "-1.5");
  EXPECT_EQ(javascript_float(1), "1");
  EXPECT_EQ(javascript_float(-0.0), "0");
  EXPECT_EQ(javascript_float(1e20), "100000000000000000000");
  EXPECT_EQ(javascript_float(1e21), "1e+21");
  EXPECT_EQ(javascript_float(0.000001), "0.000001");
  EXPECT_EQ(javascript_float(1e-7), "1e-7");
  EXPECT_EQ(javascript_float(123.456), "123.456");
}

TEST(Spelling, NumbersBeyondDoublesAreInfiniteOrZero) {
  const auto number = [](std::string_view text) { return double_of(*read_text(text)); };
  EXPECT_TRUE(std::isinf(number("1e400")));
  EXPECT_LT(number("-1e400"), 0);
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("0.00001e-400"), 0);
  EXPECT_TRUE(std::isinf(number("1" + std::string(400, '0') + ".0")));
  EXPECT_EQ(number("0." + std::string(400, '0') + "1"), 0);
  EXPECT_TRUE(std::isinf(number("1e99999999999999999999")));
  EXPECT_EQ(number("1e-99999999999999999999"), 0);
}

TEST(Spelling, WhatOneSystemRaisesForHasNoDigest) {
  EXPECT_FALSE(ruby_arguments_digest(R"({"n":1e400})").has_value());
  EXPECT_FALSE(ruby_arguments_digest(R"({"s":"\ud800"})").has_value());
  EXPECT_EQ(python_arguments_digest(R"({"n":1e400})")->canonical, R"({"n":Infinity})");
  EXPECT_EQ(python_arguments_digest(R"({"s":"\ud800"})")->canonical, R"({"s":"\ud800"})");
  EXPECT_FALSE(python_arguments_digest("{").has_value());
}

TEST(Spelling, RubyReadsCommentsAndAnyEscapeAndNoLoneSurrogate) {
  const auto value = [](std::string_view text, Dialect dialect) {
    const std::optional<Text> read = read_text(text, dialect);
    return read ? read->value : std::string("no");
  };
  for (const char* text : {"/* a */ 1", "// a\n1", "1 /**/", "1//\n", "/*/ */1"}) {
    EXPECT_EQ(value(text, Dialect::ruby), "1") << text;
    EXPECT_EQ(value(text, Dialect::javascript), "no") << text;
    EXPECT_EQ(value(text, Dialect::python), "no") << text;
  }
  for (const char* text : {"1 // no end", "/* no end", "1 /", "/*/1"})
    EXPECT_EQ(value(text, Dialect::ruby), "no") << text;
  EXPECT_EQ(value(R"("\q")", Dialect::ruby), "q");
  EXPECT_EQ(value(R"("\q")", Dialect::javascript), "no");
  EXPECT_EQ(value("\"\\\x01\"", Dialect::ruby), "no");
  EXPECT_EQ(value(R"("\ud800")", Dialect::ruby), "no");
  EXPECT_NE(value(R"("\ud800")", Dialect::javascript), "no");
  EXPECT_EQ(value(R"("\ud83d\ude00")", Dialect::ruby), "\U0001F600");
  EXPECT_FALSE(ruby_arguments_digest(R"({"a":"\ud800","a":1})").has_value());
  EXPECT_FALSE(ruby_arguments_digest(R"({"a":NaN,"a":1})").has_value());
}

TEST(Spelling, DepthIsCountedOutsideStringsOnly) {
  EXPECT_FALSE(is_deeper(R"([["[\"[[["]])", 2));
  EXPECT_TRUE(is_deeper(R"([["[\"[[["]])", 1));
  EXPECT_FALSE(is_deeper("[[],[],[]]", 2));
}

TEST(Spelling, ReadsNoTextDeeperThanTheLimit) {
  EXPECT_TRUE(read_text(std::string(100, '[') + std::string(100, ']')).has_value());
  EXPECT_FALSE(read_text(std::string(101, '[') + std::string(101, ']')).has_value());
  EXPECT_FALSE(read_text(std::string(1'000'000, '[')).has_value());
  const std::string deep = std::string(script_depth_max, '[') + std::string(script_depth_max, ']');
  EXPECT_TRUE(read_text(deep, Dialect::javascript, script_depth_max).has_value());
  EXPECT_FALSE(read_text("[" + deep + "]", Dialect::javascript, script_depth_max).has_value());
}

TEST(Spelling, ReadsJsonAndNothingElse) {
  for (const char* text : {"",
                           " ",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "1e",
                           "-",
                           "nul",
                           "[1,]",
                           "{\"a\":1,}",
                           "{a:1}",
                           "\"\n\"",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "\"\xff\"",
                           "\"\xed\xa0\x80\"",
                           "1 2",
                           "NaN",
                           "\"",
                           "[",
                           "{\"a\"}"}) {
    EXPECT_FALSE(read_text(text).has_value()) << text;
  }
  EXPECT_TRUE(read_text("NaN", Dialect::python).has_value());
}

// --- a Sealer that moves from another system ---

FormatOptions python_options() {
  FormatOptions options;
  options.config = one_key();
  return options;
}

Binding deploy_binding() {
  Binding binding;
  binding.method = "tools/call";
  binding.target = "deploy";
  binding.params_json = deploy().params;
  binding.audience = "demo-server";
  binding.principal = Principal::authenticated(*deploy().principal);
  binding.protocol_version = "2026-07-28";
  return binding;
}

class MovingSealer : public ::testing::Test {
 protected:
  Sealer sealer(bool seals_foreign, FormatOptions options = python_options()) {
    Migration migration;
    migration.format = *make_format("python-sdk-v1", std::move(options));
    migration.seal = seals_foreign;
    return Sealer(codec_, Policy(), clock_, entropy_, migration);
  }
  std::string python_token() {
    return *(*make_profile("python-sdk-v1", one_key()))->seal("step=2", deploy(), std::nullopt, entropy_);
  }

  ManualClock clock_{now};
  testing::SeededEntropy entropy_{7};
  std::shared_ptr<Codec> codec_ = std::make_shared<NativeCodec>(ephemeral_ring(entropy_), clock_, entropy_);
};

TEST_F(MovingSealer, OpensTokensOfTheOtherSystemAndItsOwn) {
  Sealer moving = sealer(false);
  auto theirs = moving.open_now(python_token(), deploy_binding());
  ASSERT_TRUE(theirs.ok());
  EXPECT_EQ(as_text(theirs->state), "step=2");
  EXPECT_EQ(theirs->format, "python-sdk-v1");
  const auto ours = moving.seal_now(deploy_binding(), moving.begin_flow(), Bytes(3));
  ASSERT_TRUE(ours.ok());
  EXPECT_TRUE(ours->starts_with("sg1."));
  EXPECT_TRUE(moving.open_now(*ours, deploy_binding()).ok());
}

TEST_F(MovingSealer, EachForeignTokenHasItsOwnIdWhichItKeeps) {
  Sealer moving = sealer(false);
  const std::string token = python_token();
  const TokenId first = moving.open_now(token, deploy_binding())->token_id;
  EXPECT_EQ(moving.open_now(token, deploy_binding())->token_id, first);
  EXPECT_NE(moving.open_now(python_token(), deploy_binding())->token_id, first);
}

TEST_F(MovingSealer, ATokenThatNeverExpiresCountsUntilTheMoveIsOver) {
  const auto opened_until = [](std::optional<Timestamp> accept_until) {
    FormatOptions options;
    options.config = one_key();
    options.accept_unbound = true;
    options.accept_until = accept_until;
    const auto format = *make_format("protocol-droid", std::move(options));
    testing::SeededEntropy entropy(1);
    const std::string token = format->seal(as_bytes("s"), deploy_binding(), now, entropy).value();
    return format->open(token, deploy_binding(), now)->expires_at;
  };
  EXPECT_EQ(opened_until(std::nullopt), std::nullopt);
  EXPECT_EQ(opened_until(now + 1h), now + 1h);
}

TEST_F(MovingSealer, TakesTheLongestLifetimeThereIs) {
  FormatOptions options = python_options();
  options.lifetime = std::chrono::milliseconds::max();
  Sealer moving = sealer(true, std::move(options));
  const std::string token = moving.seal_now(deploy_binding(), moving.begin_flow(), Bytes{'s'}).value();
  EXPECT_TRUE(moving.open_now(token, deploy_binding()).ok());
}

TEST_F(MovingSealer, SealsForTheOtherSystemInAMixedFleet) {
  Sealer moving = sealer(true);
  const std::string state = "step=3";
  const auto token =
      moving.seal_now(deploy_binding(), moving.begin_flow(), Bytes(state.begin(), state.end()));
  ASSERT_TRUE(token.ok());
  auto opened = (*make_profile("python-sdk-v1", one_key()))->open(*token, deploy());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(as_text(opened->state), state);
}

TEST_F(MovingSealer, RefusesForeignTokensForAnotherRequestOrAfterTheMove) {
  Sealer moving = sealer(false);
  Binding other = deploy_binding();
  other.principal = Principal::authenticated("bob");
  auto refused = moving.open_now(python_token(), other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, Refusal::other_principal);

  FormatOptions over = python_options();
  over.accept_until = now - 1ms;
  Sealer moved = sealer(false, std::move(over));
  auto late = moved.open_now(python_token(), deploy_binding());
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().reason, Refusal::key_retired);
}

TEST(Formats, OneThatBindsNothingMustBeAcceptedAsSuch) {
  for (const char* name : {"haskell-mcp-server", "protocol-droid", "rmcp-rs1", "typescript-sdk-v1"}) {
    FormatOptions options;
    options.config = one_key();
    EXPECT_FALSE(make_format(name, std::move(options)).ok()) << name;
    FormatOptions knowing;
    knowing.config = one_key();
    knowing.accept_unbound = true;
    EXPECT_TRUE(make_format(name, std::move(knowing)).ok()) << name;
  }
  FormatOptions bound;
  bound.config = one_key();
  bound.bound = [](const Binding& binding) { return binding.principal.id + "|" + binding.target; };
  EXPECT_TRUE(make_format("rmcp-rs1", std::move(bound)).ok());
}

TEST(Formats, AKeyMayNotBeNamedAsOurOwnTokensBegin) {
  FormatOptions options;
  options.config = one_key(7, "sg1");
  options.accept_unbound = true;
  EXPECT_FALSE(make_format("haskell-mcp-server", std::move(options)).ok());
}

TEST(Formats, ATokenOverTheLimitIsTooLarge) {
  FormatOptions options = python_options();
  options.token_bytes_max = 100;
  const auto format = *make_format("python-sdk-v1", std::move(options));
  auto refused = format->open(std::string(101, 'v'), deploy_binding(), now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, Refusal::too_large);
}

TEST(Formats, ALifetimeKeepsItsDigitsAndEndsWithTheCalendar) {
  testing::SeededEntropy entropy(1);
  const auto body = [&](std::chrono::duration<double> lifetime) {
    FormatOptions options;
    options.config = one_key();
    options.accept_unbound = true;
    options.lifetime = lifetime;
    const auto format = *make_format("typescript-sdk-v1", std::move(options));
    const std::string token = *format->seal(as_bytes("1"), deploy_binding(), now, entropy);
    return text_of(*decode_base64url(token.substr(3, token.rfind('.') - 3)));
  };
  EXPECT_EQ(body(std::chrono::duration<double>(1.0 / 3)), R"({"p":1,"exp":1790000000.3333333})");
  EXPECT_EQ(body(10min), R"({"p":1,"exp":1790000600})");
  EXPECT_EQ(body(std::chrono::duration<double>(-1)), R"({"p":1,"exp":1790000000})");
  EXPECT_EQ(body(std::chrono::duration<double>(1e300)), R"({"p":1,"exp":253402300799.999})");
}

TEST(Formats, UnknownNamesAreRefused) {
  EXPECT_FALSE(make_format("python", python_options()).ok());
  EXPECT_FALSE(make_profile("v1", one_key()).ok());
}

}  // namespace
}  // namespace signet::token::profiles
