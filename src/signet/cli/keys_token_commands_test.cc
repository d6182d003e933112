#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <signet/cli/testing_commands.h>
#include <signet/cli/token_command.h>
#include <signet/keys/ring_file.h>
#include <signet/keys/time_text.h>
#include <signet/token/codec.h>
#include <signet/token/sealer.h>

namespace signet::cli {
namespace {

TEST_F(CommandTest, TheRingIsNamedByItsOptionByTheFirstWordOrByTheEnvironment) {
  ASSERT_EQ(run({"keys", "generate", "--ring", ring, "--id", "k1"}).exit_code, 0);
  for (int step = 0; step < 2; ++step) {
    ASSERT_EQ(run({"keys", "rotate", ring, "--settle", "0s", "--lifetime", "36600d"}).exit_code, 0);
  }
  EXPECT_TRUE(contains(run({"keys", "list", ring}).out, "k1"));
  const std::string first = "2100-01-01T00:00:00Z";
  const std::string sooner = "2099-01-01T00:00:00Z";
  EXPECT_EQ(run({"keys", "retire", "--ring", ring, "k1", "--at", first}).err, "");
  EXPECT_EQ(run({"keys", "retire", "k1", "--ring", ring, "--at", first}).err, "") << "in any order";
  EXPECT_EQ(run({"keys", "retire", ring, "k1", "--at", first}).err, "");
  ::setenv("SIGNET_RING", ring.c_str(), 1);
  EXPECT_EQ(run({"keys", "retire", "k1", "--at", sooner}).err, "");
  EXPECT_TRUE(contains(run({"keys", "list"}).out, "k1"));
  // What is said on the command line counts more, in every subcommand.
  const std::string other = folder / "other.json";
  ASSERT_EQ(run({"keys", "generate", "--ring", other, "--id", "k9"}).err, "");
  for (const char* command : {"list", "check"}) {
    EXPECT_TRUE(contains(run({"keys", command, "--ring", other}).out, "k9")) << command;
    EXPECT_TRUE(contains(run({"keys", command, other}).out, "k9")) << command;
  }
  ::unsetenv("SIGNET_RING");
  EXPECT_EQ(run({"keys", "retire", ring}).exit_code, 2);
  EXPECT_EQ(run({"keys", "retire", "--ring", ring}).exit_code, 2);
  EXPECT_EQ(run({"keys", "list"}).exit_code, 2);
  EXPECT_EQ(run({"keys", "list", ring, "--ring", other}).exit_code, 2) << "which of them?";
}

TEST_F(CommandTest, TimesHaveUnitsAndLimits) {
  ASSERT_EQ(run({"keys", "generate", ring, "--id", "k1"}).exit_code, 0);
  const auto seal = [&](const std::string& lifetime) {
    return run({"token", "seal", "--ring", ring, "--lifetime", lifetime}, "x").exit_code;
  };
  EXPECT_EQ(seal("2m"), 0);
  EXPECT_EQ(seal("120"), 0);
  for (const char* wrong : {"0", "-1", "1y", "1e300", "99999999999999"}) EXPECT_NE(seal(wrong), 0) << wrong;
}

TEST_F(CommandTest, GenerateMakesARingForItsOwnerAloneAndShowsNoSecret) {
  const Outcome made = run({"keys", "generate", ring, "--id", "k1"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  struct stat status{};
  ASSERT_EQ(::stat(ring.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const std::string text = read_ring();
  const std::string secret = text.substr(text.find("\"secret\": \"") + 11, 43);
  EXPECT_FALSE(contains(made.out, secret));
  EXPECT_FALSE(contains(run({"keys", "list", ring}).out, secret));
  EXPECT_FALSE(contains(run({"keys", "check", ring}).out, secret));
  EXPECT_NE(run({"keys", "generate", ring}).exit_code, 0) << "an existing ring is not overwritten";
  EXPECT_EQ(read_ring(), text);
}

// Puts another file in the place of standard output, as the system sees it.
class StandardOutput {
 public:
  explicit StandardOutput(int file) : before_(::dup(STDOUT_FILENO)) { ::dup2(file, STDOUT_FILENO); }
  ~StandardOutput() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

 private:
  int before_;
};

TEST_F(CommandTest, GenerateWritesToStandardOutputOnlyWhereAskedAndNotToATerminal) {
  const int pipe = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  {
    const StandardOutput instead(pipe);
    const Outcome made = run({"keys", "generate", "-"});
    EXPECT_EQ(made.exit_code, 0);
    EXPECT_TRUE(contains(made.out, "\"secret\""));
  }
  ::close(pipe);

  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_EQ(::grantpt(master), 0);
  ASSERT_EQ(::unlockpt(master), 0);
  const int terminal = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  {
    const StandardOutput instead(terminal);
    const Outcome refused = run({"keys", "generate", "--ring", "-"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(contains(refused.err, "redirect it"));
    EXPECT_EQ(run({"keys", "generate", "--ring", ring}).exit_code, 0)
        << "a file is no matter of the terminal";
  }
  ::close(terminal);
  ::close(master);
}

TEST_F(CommandTest, AKeyThatWasMadeAnewHasAnotherName) {
  const auto id = [this] {
    std::filesystem::remove(ring);
    EXPECT_EQ(run({"keys", "generate", ring, "--now", "2026-11-30T12:00:00Z"}).exit_code, 0);
    return keys::read_ring_file(ring).value()->sealing().id();
  };
  const std::string first = id();
  EXPECT_TRUE(first.starts_with("2026-11-30-")) << first;
  EXPECT_NE(id(), first) << "its tokens would be taken for forged ones";
}

// doc/operations.md: a key that may have leaked.
TEST_F(CommandTest, ALeakedKeyIsRotatedAwayWhileAnotherStillRetires) {
  const auto keys_at = [this](const std::string& now, std::vector<std::string> words) {
    words.insert(words.begin(), "keys");
    words.insert(words.end(), {"--ring", ring, "--now", now});
    return run(words);
  };
  const auto rotate = [&](const std::string& now, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"rotate"};
    words.insert(words.end(), more.begin(), more.end());
    return keys_at(now, words);
  };
  keys_at("2026-01-01T00:00:00Z", {"generate", "--id", "old"});
  rotate("2026-01-01T00:00:00Z", {"--id", "leaked"});
  EXPECT_EQ(rotate("2026-01-01T00:01:00Z").err, "");

  const Outcome of_itself = rotate("2026-01-01T02:00:00Z");
  EXPECT_EQ(of_itself.exit_code, 1) << "no new key without being asked for";
  EXPECT_TRUE(contains(of_itself.err, "step accept")) << of_itself.err;
  EXPECT_EQ(rotate("2026-01-01T02:00:00Z", {"--step", "accept", "--id", "fresh"}).err, "");
  EXPECT_EQ(rotate("2026-01-01T02:00:59Z", {"--step", "seal"}).exit_code, 1) << "hurried";
  const Outcome sealing = rotate("2026-01-01T02:01:00Z", {"--step", "seal"});
  EXPECT_TRUE(contains(sealing.out, "Key old opens what it sealed until 2026-01-02T00:02:00Z"))
      << sealing.out;
  EXPECT_EQ(keys_at("2026-01-01T02:01:01Z", {"retire", "leaked"}).out,
            "Key leaked opens nothing from 2026-01-01T02:01:01Z on.\n");
  const Outcome removed = rotate("2026-01-01T02:01:01Z");
  EXPECT_TRUE(contains(removed.out, "key leaked is taken out. Key fresh seals."))
      << removed.out << removed.err;
  EXPECT_TRUE(contains(removed.out, "Key old opens what it sealed until 2026-01-02T00:02:00Z"));
  const Outcome last = rotate("2026-01-02T00:02:00Z");
  EXPECT_TRUE(contains(last.out, "key old is taken out. Key fresh seals.\n")) << last.out;
}

TEST_F(CommandTest, RetireNeverPutsAnEndOffAndNeverRevives) {
  run({"keys", "generate", ring, "--id", "old"});
  run({"keys", "rotate", ring, "--id", "new", "--settle", "0s"});
  run({"keys", "rotate", ring, "--settle", "0s"});
  ASSERT_EQ(run({"keys", "retire", ring, "old"}).exit_code, 0);
  const std::string over = run({"keys", "list", ring}).out;
  EXPECT_TRUE(contains(over, "(over)")) << over;
  const Outcome revived = run({"keys", "retire", ring, "old", "--at", "2100-01-01T00:00:00Z"});
  EXPECT_EQ(revived.exit_code, 1);
  EXPECT_TRUE(contains(revived.err, "never puts it off")) << revived.err;
  EXPECT_EQ(run({"keys", "list", ring}).out, over);
  EXPECT_EQ(run({"keys", "retire", ring, "old"}).exit_code, 0) << "it opens nothing, as was asked for";
  EXPECT_EQ(run({"keys", "list", ring}).out, over);
}

TEST_F(CommandTest, RotateDoesNotHurryAKeyOfWhichTheRingDoesNotSaySinceWhen) {
  run({"keys", "generate", ring, "--id", "old"});
  run({"keys", "rotate", ring, "--id", "new", "--now", "2026-01-01T00:00:00Z"});
  std::string text = read_ring();
  const std::string since = ", \"since\": \"2026-01-01T00:00:00Z\"";
  ASSERT_TRUE(contains(text, since));
  std::ofstream(ring) << text.erase(text.find(since), since.size());
  EXPECT_TRUE(contains(run({"keys", "check", ring}).out, "since when it is here is not said"));
  EXPECT_EQ(run({"keys", "rotate", ring, "--step", "seal"}).exit_code, 1);
  const Outcome dated = run({"keys", "rotate", ring, "--now", "2026-01-02T00:00:00Z"});
  EXPECT_EQ(dated.exit_code, 0) << dated.err;
  EXPECT_TRUE(contains(dated.out, "Step 1 of 3: key new")) << dated.out;
  EXPECT_TRUE(contains(dated.out, "That counts from now")) << dated.out;
  EXPECT_EQ(run({"keys", "rotate", ring, "--now", "2026-01-02T00:00:59Z"}).exit_code, 1);
  EXPECT_TRUE(contains(run({"keys", "rotate", ring, "--now", "2026-01-02T00:01:00Z"}).out, "key new seals"));
}

TEST_F(CommandTest, AWrongCommandLineEndsWithTwo) {
  EXPECT_EQ(run({"keys", "generate", ring, "--id", "a b"}).exit_code, 2);
  ASSERT_EQ(run({"keys", "generate", ring, "--id", "a"}).exit_code, 0);
  EXPECT_EQ(run({"keys", "rotate", ring, "--id", "a b"}).exit_code, 2);
  EXPECT_EQ(run({"keys", "rotate", ring, "--id", "b", "--step", "seal"}).exit_code, 2);
  EXPECT_EQ(run({"keys", "retire", ring}).exit_code, 2);
  EXPECT_EQ(run({"keys", "retire", ring, "none"}).exit_code, 1) << "well said, and not so";
}

TEST_F(CommandTest, RotateWalksThreeStepsAndSkipsNone) {
  run({"keys", "generate", ring, "--id", "old", "--now", "2026-01-01T00:00:00Z"});
  const auto rotate = [this](const std::string& now, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"keys", "rotate", "--ring", ring, "--now", now};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  EXPECT_NE(rotate("2026-01-02T00:00:00Z", {"--step", "seal"}).exit_code, 0);
  EXPECT_EQ(rotate("2026-01-02T00:00:00Z", {"--id", "new"}).exit_code, 0);
  EXPECT_NE(rotate("2026-01-02T00:00:59Z").exit_code, 0) << "instances may not have read it yet";
  EXPECT_EQ(rotate("2026-01-02T00:01:00Z", {"--lifetime", "10m"}).exit_code, 0);
  EXPECT_NE(rotate("2026-01-02T00:11:59Z").exit_code, 0) << "the old key still opens";
  EXPECT_TRUE(contains(read_ring(), "old"));
  const Outcome last = rotate("2026-01-02T00:12:00Z");
  EXPECT_EQ(last.exit_code, 0) << last.err;
  EXPECT_FALSE(contains(read_ring(), "old"));
  EXPECT_TRUE(contains(run({"keys", "list", ring}).out, "new"));
}

TEST_F(CommandTest, RotateTakesNoNameForAStepThatMakesNoKey) {
  run({"keys", "generate", ring, "--id", "old"});
  run({"keys", "rotate", ring, "--id", "new"});
  const std::string before = read_ring();
  const Outcome refused = run({"keys", "rotate", ring, "--settle", "0s", "--id", "newer"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.err, "the next step of this ring is seal"));
  EXPECT_EQ(read_ring(), before);
}

TEST_F(CommandTest, TimesHaveALimit) {
  run({"keys", "generate", ring, "--id", "old"});
  for (const char* time : {"36601d", "9223372036854775807s", "9223372036854775807d", "-1s", "soon"}) {
    EXPECT_NE(run({"keys", "rotate", ring, "--settle", time}).exit_code, 0) << time;
    EXPECT_NE(run({"keys", "rotate", ring, "--lifetime", time}).exit_code, 0) << time;
  }
  for (const char* seconds : {"0", "-1", "3162240001", "9223372036854775807"}) {
    EXPECT_NE(run({"token", "seal", "--ring", ring, "--lifetime", seconds}).exit_code, 0) << seconds;
  }
  EXPECT_EQ(run({"keys", "rotate", ring, "--settle", "0s"}).exit_code, 0);
  EXPECT_EQ(run({"keys", "rotate", ring, "--settle", "0s", "--lifetime", "36600d"}).exit_code, 0);
  EXPECT_EQ(run({"keys", "check", ring}).exit_code, 0);
}

TEST_F(CommandTest, SaysWhatIsWrongWithARingAndShowsNothingOfIt) {
  const Outcome missing = run({"keys", "check", ring});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_TRUE(contains(missing.err, "No such file"));
  std::ofstream(ring)
      << R"({"version": 1, "keys": [{"id": "a", "secret": "c2VjcmV0c2VjcmV0", "stage": "seal"}]})";
  ::chmod(ring.c_str(), 0600);
  const Outcome broken = run({"keys", "check", ring});
  EXPECT_EQ(broken.exit_code, 1);
  EXPECT_TRUE(broken.out.empty());
  EXPECT_FALSE(contains(broken.err, "c2VjcmV0"));
  EXPECT_EQ(run({"token", "seal", "--ring", ring}, "state").exit_code, 1);
  for (const char* time : {"2026-01-01", "now", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00+01:00"}) {
    for (const char* command : {"list", "check", "rotate", "generate"}) {
      EXPECT_EQ(run({"keys", command, ring, "--now", time}).exit_code, 2) << command << time;
    }
    EXPECT_EQ(run({"keys", "retire", ring, "a", "--at", time}).exit_code, 2) << time;
    for (const char* command : {"seal", "open", "inspect"}) {
      EXPECT_EQ(run({"token", command, "--ring", ring, "--now", time}, "sg1.a.AAAA").exit_code, 2) << command;
    }
  }
}

TEST_F(CommandTest, RetireTakesAKeyOutOfServiceUnlessItSeals) {
  run({"keys", "generate", ring, "--id", "old"});
  EXPECT_NE(run({"keys", "retire", ring, "old"}).exit_code, 0);
  run({"keys", "rotate", ring, "--id", "new"});
  EXPECT_EQ(run({"keys", "retire", ring, "new"}).exit_code, 0);
  EXPECT_TRUE(contains(run({"keys", "check", ring}).out, "new opens nothing any more"));
}

TEST_F(CommandTest, CheckRefusesARingThatOthersMayRead) {
  run({"keys", "generate", ring});
  EXPECT_EQ(run({"keys", "check", ring}).exit_code, 0);
  ::chmod(ring.c_str(), 0644);
  const Outcome checked = run({"keys", "check", ring});
  EXPECT_NE(checked.exit_code, 0);
  EXPECT_TRUE(contains(checked.err, "mode 600"));
}

TEST_F(CommandTest, SealsOpensAndExplains) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::vector<std::string> request = {"--ring", ring, "--params", params, "--audience", "tickets"};
  const auto with = [&request](std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), request.begin(), request.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const std::string alice = "alice", bob = "bob";
  const Outcome sealed = run(with({"token", "seal"}, {"--principal", alice}), "the state");
  ASSERT_EQ(sealed.exit_code, 0) << sealed.err;
  EXPECT_TRUE(sealed.out.starts_with("sg1.k1."));

  EXPECT_EQ(run(with({"token", "open"}, {"--principal", alice}), sealed.out).out, "the state");
  const Outcome refused = run(with({"token", "open"}, {"--principal", bob}), sealed.out);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_TRUE(contains(refused.err, "other_principal"));
  EXPECT_TRUE(refused.out.empty());

  // The same arguments in another spelling are the same arguments.
  std::ofstream(params) << R"({"arguments": {"n": 1, "env": "prod"}, "name": "deploy"})";
  EXPECT_EQ(run(with({"token", "open"}, {"--principal", alice}), sealed.out).out, "the state");
  std::ofstream(params) << R"({"arguments": {"n": 2, "env": "prod"}, "name": "deploy"})";
  EXPECT_TRUE(
      contains(run(with({"token", "open"}, {"--principal", alice}), sealed.out).err, "other_arguments"));
}

TEST_F(CommandTest, InspectShowsWhatASealedStateIsFor) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::string token =
      run({"token", "seal", "--ring", ring, "--params", params, "--principal", "alice"}, "the state").out;
  const Outcome good = run({"token", "inspect", "--ring", ring}, token);
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_TRUE(contains(good.out, "\"deploy\""));
  EXPECT_TRUE(contains(good.out, "\"alice\""));
  EXPECT_FALSE(contains(good.out, "the state"));
  EXPECT_TRUE(contains(run({"token", "inspect", "--ring", ring, "--state"}, token).out, "the state"));

  const Outcome late =
      run({"token", "inspect", "--ring", ring, "--principal", "bob", "--now", "2100-01-01T00:00:00Z"}, token);
  EXPECT_NE(late.exit_code, 0);
  EXPECT_TRUE(contains(late.out, "expired"));
  EXPECT_TRUE(contains(late.out, "other_principal"));
  EXPECT_EQ(run({"token", "inspect"}, token).exit_code, 0) << "without keys it says what can be seen";
  EXPECT_NE(run({"token", "inspect", "--ring", ring}, token.substr(0, token.size() - 4)).exit_code, 0);
}

// What opening refuses with, inspecting explains, all of it at once.
TEST_F(CommandTest, InspectExplainsEachRefusal) {
  const std::string then = "2026-01-01T00:00:00Z";
  run({"keys", "generate", ring, "--id", "k1", "--now", then});
  const std::string token = run({"token", "seal", "--ring", ring, "--params", params, "--principal", "alice",
                                 "--audience", "here", "--now", then},
                                "s")
                                .out;
  const auto verdict = [&](const std::string& shown, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"token", "inspect", "--ring", ring};
    if (std::find(more.begin(), more.end(), "--now") == more.end()) more.insert(more.end(), {"--now", then});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments, shown);
    EXPECT_EQ(outcome.exit_code, contains(outcome.out, "refused ") ? 1 : 0);
    return outcome.out;
  };
  const auto refuses = [&](const std::string& shown, token::Refusal refusal,
                           const std::vector<std::string>& more = {}) {
    const std::string expected = std::string(to_string(refusal)) + ": " + explain(refusal);
    const std::string out = verdict(shown, more);
    EXPECT_TRUE(contains(out, expected)) << expected << " is not in\n" << out;
  };
  using token::Refusal;
  EXPECT_TRUE(contains(verdict(token, {"--params", params, "--principal", "alice", "--audience", "here"}),
                       "verdict           good at"));
  refuses("sg1.k1.AAAA", Refusal::malformed);
  refuses(token.substr(0, 30) + " " + token.substr(30), Refusal::malformed);
  refuses("sg1.k1." + std::string(70'000, 'A'), Refusal::too_large);
  refuses("sg1.k2." + token.substr(7), Refusal::unknown_key);
  std::string changed = token;
  changed[100] = changed[100] == 'A' ? 'B' : 'A';
  refuses(changed, Refusal::not_authentic);
  refuses(token, Refusal::issued_in_future, {"--now", "2025-12-31T23:58:59Z"});
  refuses(token, Refusal::expired, {"--now", "2026-01-01T00:10:00Z"});
  refuses(token, Refusal::flow_expired, {"--now", "2026-01-02T00:00:00Z"});
  refuses(token, Refusal::other_method, {"--method", "prompts/get"});
  refuses(token, Refusal::other_audience, {"--audience", "there"});
  refuses(token, Refusal::other_principal, {"--principal", "bob"});
  refuses(token, Refusal::other_principal, {"--principal", "anonymous"});
  refuses(token, Refusal::other_version, {"--protocol-version", "2027-01-01"});
  std::ofstream(params) << R"({"name": "destroy", "arguments": {"env": "prod", "n": 1.0}})";
  refuses(token, Refusal::other_target, {"--params", params});
  std::ofstream(params) << R"({"name": "deploy", "arguments": {"env": "prod", "n": 1.5}})";
  refuses(token, Refusal::other_arguments, {"--params", params});

  // More rounds than a flow may have: by a server with another policy and the same ring.
  ManualClock clock(keys::parse_time(then).value());
  token::Policy policy;
  policy.rounds_max = 100;
  token::Sealer sealer(
      std::make_shared<token::NativeCodec>(
          std::make_shared<token::SharedRing>(keys::read_ring_file(ring).value()), clock, system_entropy()),
      policy, clock, system_entropy());
  token::Flow flow = sealer.begin_flow();
  flow.round = 17;
  refuses(sealer.seal_now(token::Binding(), flow, {}).value(), Refusal::rounds_exceeded);

  run({"keys", "rotate", ring, "--now", then});
  run({"keys", "rotate", ring, "--now", "2026-01-01T00:01:00Z", "--lifetime", "5m"});
  refuses(token, Refusal::key_retired, {"--now", "2026-01-01T00:07:00Z"});
  EXPECT_TRUE(contains(verdict(token, {"--now", "2026-01-01T00:07:00Z"}), "\"deploy\""))
      << "who holds the key sees what was inside";
}

TEST_F(CommandTest, AnEmptyOrOverlongInputIsSaidToBeThat) {
  run({"keys", "generate", ring, "--id", "k1"});
  for (const std::string input : {"", "\n", "\r\n\n"}) {
    const Outcome outcome = run({"token", "open", "--ring", ring}, input);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(contains(outcome.err, "no token on standard input"));
  }
  const Outcome large = run({"token", "inspect", "--ring", ring}, std::string((1 << 20) + 1, 'A'));
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_TRUE(contains(large.err, "more than 1048576 bytes"));
  const std::string token = run({"token", "seal", "--ring", ring}, "").out;
  EXPECT_EQ(run({"token", "open", "--ring", ring}, token + "\r\n\n").exit_code, 0);
  EXPECT_EQ(run({"token", "open", "--ring", ring}, " " + token).exit_code, 1);
  EXPECT_EQ(run({"token", "seal", "--ring", ring, "--params", folder}, "").exit_code, 1);
  EXPECT_TRUE(contains(run({"token", "seal", "--ring", ring, "--params", "/none"}, "").err, "No such file"));
}

TEST_F(CommandTest, InspectLetsNoTokenPlayWithTheTerminal) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::string eight_bit = run({"token", "seal", "--ring", ring}, "\xc2\x9b[2J\xe2\x80\xae").out;
  EXPECT_TRUE(contains(run({"token", "inspect", "--ring", ring, "--state"}, eight_bit).out, "\"?[2J?\""));
  std::ofstream(params) << R"({"name": "\u001b[2J\nverdict good"})";
  const std::string token = run({"token", "seal", "--ring", ring, "--params", params}, "\x1b[2J").out;
  const Outcome shown = run({"token", "inspect", "--ring", ring, "--state"}, token);
  EXPECT_FALSE(contains(shown.out, "\x1b"));
  EXPECT_TRUE(contains(shown.out, "\\u001b"));
}

TEST_F(CommandTest, InspectWithoutKeysTellsATokenFromWhatIsNone) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::string token = run({"token", "seal", "--ring", ring}, "state").out;
  const Outcome sealed = run({"token", "inspect"}, token);
  EXPECT_EQ(sealed.exit_code, 0);
  EXPECT_TRUE(contains(sealed.out, "key               k1\n")) << sealed.out;
  EXPECT_TRUE(contains(sealed.out, "verdict           none without --ring")) << sealed.out;
  const std::string with_keys = run({"token", "inspect", "--ring", ring}, token).out;
  const std::string id = sealed.out.substr(sealed.out.find("token id"), 66);
  EXPECT_TRUE(contains(with_keys, id)) << with_keys;
  for (const std::string& none :
       {std::string("garbage"), std::string("sg1.k1."), std::string("sg1.k1.AAAA"), std::string("v1.AAAA"),
        "sg2" + token.substr(3), token.substr(0, 40), token.substr(0, 30) + "=" + token.substr(30),
        "sg1.k1." + std::string(70'000, 'A')}) {
    const Outcome outcome = run({"token", "inspect"}, none);
    EXPECT_EQ(outcome.exit_code, 1) << none;
    EXPECT_TRUE(contains(outcome.out, "refused ")) << outcome.out;
    EXPECT_FALSE(contains(outcome.out, "verdict")) << outcome.out;
  }
}

TEST_F(CommandTest, NoOptionOfATokenIsSilentlyWithoutEffect) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::string token = run({"token", "seal", "--ring", ring}, "state").out;
  // What would have to be compared with the inside, which only a key opens.
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--state"}, {"--principal", "bob"}, {"--params", params}, {"--now", "2100-01-01T00:00:00Z"}}) {
    std::vector<std::string> words = {"token", "inspect"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run(words, token).exit_code, 2) << more.front();
  }
  EXPECT_EQ(run({"token", "open", "--ring", ring, "--params", "-"}, token).exit_code, 2);
  EXPECT_EQ(run({"token", "open"}, token).exit_code, 2) << "which ring?";
}

TEST(Explain, HasWordsOfItsOwnForEveryRefusal) {
  std::vector<std::string> seen;
  for (int i = 0; i <= static_cast<int>(token::Refusal::unavailable); ++i) {
    const std::string words = explain(static_cast<token::Refusal>(i));
    EXPECT_GT(words.size(), 10u);
    for (const std::string& other : seen) EXPECT_NE(words, other);
    seen.push_back(words);
  }
}

}  // namespace
}  // namespace signet::cli
