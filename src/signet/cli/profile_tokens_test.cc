#include <signet/cli/profile_tokens.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <signet/base/bytes.h>
#include <signet/cli/testing_commands.h>

namespace signet::cli {
namespace {

TEST_F(CommandTest, SealsOpensAndExplainsTokensOfOtherSystems) {
  const std::string secret = folder / "secret";
  std::ofstream(secret) << "a secret of the other system, 32+ bytes long";
  ::chmod(secret.c_str(), 0600);
  const std::vector<std::string> request = {"--profile", "python-sdk-v1", "--secret-file", secret,
                                            "--params",  params,          "--audience",    "demo"};
  const auto with = [&request](std::vector<std::string> arguments,
                               const std::vector<std::string>& more = {}) {
    arguments.insert(arguments.end(), request.begin(), request.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Outcome sealed = run(with({"token", "seal"}), "step=2");
  if (sealed.err.find("SIGNET_PROFILES") != std::string::npos) GTEST_SKIP() << "built without profiles";
  ASSERT_EQ(sealed.exit_code, 0) << sealed.err;
  EXPECT_TRUE(sealed.out.starts_with("v1."));
  EXPECT_EQ(run(with({"token", "open"}), sealed.out).out, "step=2");
  EXPECT_TRUE(
      contains(run(with({"token", "open"}, {"--principal", "bob"}), sealed.out).err, "other_principal"));
  EXPECT_TRUE(contains(run(with({"token", "inspect"}), sealed.out).out, "good for this request"));
  EXPECT_NE(run(with({"token", "inspect"}, {"--now", "2100-01-01T00:00:00Z"}), sealed.out).exit_code, 0);
  ::chmod(secret.c_str(), 0644);
  EXPECT_NE(run(with({"token", "open"}), sealed.out).exit_code, 0) << "a secret that others may read";
}

struct ProfileTest : CommandTest {
  void SetUp() override {
    secret = folder / "secret";
    put_secret("a secret of the other system, 32");
    if (contains(run({"token", "seal", "--profile", "protocol-droid", "--secret-file", secret}, "").err,
                 "SIGNET_PROFILES")) {
      GTEST_SKIP() << "built without profiles";
    }
  }
  void put_secret(const std::string& bytes) const {
    std::ofstream(secret, std::ios::binary) << bytes;
    ::chmod(secret.c_str(), 0600);
  }
  static Outcome token_of(const std::string& command, const std::string& profile, const std::string& input,
                          const std::vector<std::string>& more) {
    std::vector<std::string> words = {"token", command, "--profile", profile};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, input);
  }
  static std::vector<std::string> all() {
    std::istringstream names(profile_names());
    std::vector<std::string> found;
    for (std::string name; std::getline(names >> std::ws, name, ',');) found.push_back(name);
    return found;
  }

  std::string secret;
};

TEST_F(ProfileTest, WhatIsSealedOpensByteForByte) {
  run({"keys", "generate", ring, "--id", "k1"});
  for (const std::string& profile : all()) {
    const bool holds_json = profile.starts_with("typescript") || profile.starts_with("conduit");
    for (const std::string state : {"state\n", "state\r\n", "\n", "\n\n", "state", ""}) {
      const std::string sealed_state = holds_json ? "\"" + std::to_string(state.size()) + "\"" : state;
      const Outcome sealed = token_of("seal", profile, sealed_state, {"--ring", ring});
      ASSERT_EQ(sealed.exit_code, 0) << profile << sealed.err;
      const Outcome opened = token_of("open", profile, sealed.out, {"--ring", ring});
      EXPECT_EQ(opened.exit_code, 0) << profile << opened.err;
      EXPECT_EQ(opened.out, sealed_state) << profile;
    }
  }
  const std::string native = run({"token", "seal", "--ring", ring}, "state\r\n\n").out;
  EXPECT_EQ(run({"token", "open", "--ring", ring}, native).out, "state\r\n\n");
}

TEST_F(ProfileTest, ARingOfSeveralKeysServesFormatsThatTakeOne) {
  run({"keys", "generate", ring, "--id", "old"});
  const auto state_of = [](const std::string& profile) {
    return profile.starts_with("typescript") || profile.starts_with("conduit") ? "\"s\"" : "s";
  };
  std::map<std::string, std::string> before;
  for (const std::string& profile : all()) {
    before[profile] = token_of("seal", profile, state_of(profile), {"--ring", ring}).out;
  }
  run({"keys", "rotate", ring, "--id", "new", "--settle", "0s"});
  run({"keys", "rotate", ring, "--settle", "0s"});
  const std::string other = folder / "other.json";
  run({"keys", "generate", other, "--id", "new"});
  for (const std::string& profile : all()) {
    const Outcome sealed = token_of("seal", profile, state_of(profile), {"--ring", ring});
    EXPECT_EQ(sealed.exit_code, 0) << profile << sealed.err;
    EXPECT_EQ(token_of("open", profile, sealed.out, {"--ring", ring}).exit_code, 0) << profile;
    EXPECT_EQ(token_of("open", profile, before[profile], {"--ring", ring}).exit_code, 0) << profile;
    EXPECT_EQ(token_of("open", profile, sealed.out, {"--ring", other}).exit_code, 1) << profile;
    const std::string inspected = token_of("inspect", profile, before[profile], {"--ring", ring}).out;
    // Python's tokens name a secret by a digest.
    if (profile == "python-sdk-v1") continue;
    EXPECT_TRUE(contains(inspected, "key               old\n")) << inspected;
  }
  // The new key seals: without it the token does not open, and a retired key opens nothing.
  const std::string fresh = token_of("seal", "ruby-sdk-v1", "s", {"--ring", ring}).out;
  EXPECT_TRUE(
      contains(token_of("inspect", "ruby-sdk-v1", fresh, {"--ring", ring}).out, "key               new\n"));
  run({"keys", "retire", ring, "old"});
  EXPECT_EQ(token_of("open", "ruby-sdk-v1", before["ruby-sdk-v1"], {"--ring", ring}).exit_code, 1);
  // Of two keys the one that made it says why it is refused.
  const std::string late = "2100-01-01T00:00:00Z";
  EXPECT_TRUE(
      contains(token_of("open", "ruby-sdk-v1", fresh, {"--ring", ring, "--now", late}).err, "expired"));
}

TEST_F(ProfileTest, WhatAFormatDoesNotLookAtIsRefused) {
  run({"keys", "generate", ring, "--id", "k1"});
  struct Case {
    const char* profile;
    const char* option;
    bool looked_at;
  };
  for (const Case& one :
       {Case{"ruby-sdk-v1", "--principal", false}, Case{"python-sdk-v1", "--principal", true},
        Case{"conduit-mcp-0.11", "--principal", true}, Case{"rmcp-rs1", "--bound", true},
        Case{"typescript-sdk-v1", "--bound", true}, Case{"python-sdk-v1", "--bound", false},
        Case{"protocol-droid", "--audience", false}, Case{"haskell-mcp-server", "--method", false},
        Case{"typescript-sdk-v1", "--method", false}, Case{"ruby-sdk-v1", "--audience", true},
        Case{"python-sdk-v1", "--protocol-version", false},
        Case{"conduit-mcp-0.11", "--protocol-version", true}}) {
    const std::string state = "\"s\"";
    const std::string sealed = token_of("seal", one.profile, state, {"--ring", ring}).out;
    const Outcome outcome = token_of("open", one.profile, sealed, {"--ring", ring, one.option, "something"});
    // Either it is compared, and differs; or it is said that it is not compared.
    EXPECT_EQ(outcome.exit_code, one.looked_at ? 1 : 2) << one.profile << one.option << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(token_of("open", "rmcp-rs1", "x", {"--ring", ring, "--secret-file", secret}).exit_code, 2);
  EXPECT_EQ(token_of("open", "ruby-sdk-v1", "x", {"--secret-file", secret, "--key-id", "k"}).exit_code, 2);
  EXPECT_EQ(token_of("open", "rmcp-rs2", "x", {"--secret-file", secret}).exit_code, 2) << "needs a name";
  EXPECT_EQ(token_of("open", "rmcp-rs1", "x", {}).exit_code, 2) << "no keys";
  EXPECT_EQ(token_of("open", "nonsense", "x", {"--ring", ring}).exit_code, 2);
  // The environment's ring is no option that was given.
  ::setenv("SIGNET_RING", "/nowhere", 1);
  EXPECT_EQ(token_of("seal", "rmcp-rs1", "x", {"--secret-file", secret}).exit_code, 0);
  ::unsetenv("SIGNET_RING");
}

TEST_F(ProfileTest, TheStateOfAnotherSystemIsShownOnlyWhereAsked) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::string sealed = token_of("seal", "rmcp-rs1", "\x1b[2Jhidden", {"--ring", ring}).out;
  EXPECT_FALSE(contains(token_of("inspect", "rmcp-rs1", sealed, {"--ring", ring}).out, "hidden"));
  const std::string shown = token_of("inspect", "rmcp-rs1", sealed, {"--ring", ring, "--state"}).out;
  EXPECT_TRUE(contains(shown, "\\u001b[2Jhidden")) << shown;
  EXPECT_FALSE(contains(shown, "\x1b"));
}

TEST_F(ProfileTest, ARefusalIsExplainedAsTheFormatMeansIt) {
  run({"keys", "generate", ring, "--id", "k1"});
  const auto why = [&](const std::string& profile, const std::vector<std::string>& sealed_for,
                       const std::vector<std::string>& shown_for) {
    std::vector<std::string> before = {"--ring", ring}, after = {"--ring", ring};
    before.insert(before.end(), sealed_for.begin(), sealed_for.end());
    after.insert(after.end(), shown_for.begin(), shown_for.end());
    const std::string sealed = token_of("seal", profile, "\"s\"", before).out;
    const Outcome outcome = token_of("open", profile, sealed, after);
    EXPECT_EQ(outcome.exit_code, 1) << profile;
    return outcome.err;
  };
  for (const char* rmcp : {"rmcp-rs1", "rmcp-rs2"}) {
    EXPECT_TRUE(contains(why(rmcp, {"--bound", "alice"}, {"--bound", "bob"}), "--bound")) << rmcp;
  }
  const std::string conduit = "conduit-mcp-0.11";
  EXPECT_TRUE(contains(why(conduit, {}, {"--method", "prompts/get"}), "another method, service or revision"));
  EXPECT_TRUE(contains(why(conduit, {}, {"--audience", "x"}), "another method, service or revision"));
  EXPECT_TRUE(contains(why(conduit, {}, {"--params", params}), "other params"));
  const std::string typescript = "typescript-sdk-v1";
  EXPECT_TRUE(contains(why(typescript, {"--bound", "alice"}, {"--bound", "bob"}), "another caller"));
  EXPECT_TRUE(contains(why(typescript, {"--bound", "alice"}, {}), "another caller"));
  EXPECT_FALSE(contains(why("python-sdk-v1", {}, {"--params", params}), "bind"));

  const std::string rs1 = token_of("seal", "rmcp-rs1", "s", {"--ring", ring}).out;
  EXPECT_TRUE(contains(token_of("open", "rmcp-rs2", rs1, {"--ring", ring}).err, "--profile rmcp-rs1"));
}

// As for our own tokens: who has the key sees what a refused one was made for.
TEST_F(ProfileTest, InspectShowsWhatIsInARefusedTokenToWhoHasTheKey) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::string other = folder / "other.json";
  run({"keys", "generate", other, "--id", "k1"});
  struct Case {
    std::string profile;
    std::vector<std::string> sealed_for;
    std::vector<std::string> rows;  // what inspecting shows
  };
  const std::string then = "2026-01-01T00:00:00Z";
  const std::vector<std::string> request = {"--params", params, "--audience", "here"};
  for (const Case& one :
       {Case{"python-sdk-v1",
             request,
             {"issued            2026-01-01T00:00:00Z", "expires           2026-01-01T00:05:00Z",
              "method            \"tools/call\"", "target            \"deploy\"",
              "audience          \"here\"", "arguments         digest "}},
        Case{"ruby-sdk-v1",
             request,
             {"expires           2026-01-01T00:05:00Z", "method            \"tools/call\"",
              "target            \"deploy\"", "audience          \"here\"", "arguments         digest "}},
        Case{"conduit-mcp-0.11",
             request,
             {"expires           2026-01-01T00:05:00Z", "principal         (none)",
              "params            digest "}},
        Case{"typescript-sdk-v1",
             {"--bound", "alice"},
             {"expires           2026-01-01T00:05:00Z", "bound             digest "}},
        Case{"rmcp-rs1", {"--bound", "alice"}, {"expires           2026-01-01T00:05:00Z"}},
        Case{"rmcp-rs2",
             {"--bound", "alice"},
             {"expires           2026-01-01T00:05:00Z", "key               k1"}}}) {
    std::vector<std::string> words = {"--ring", ring, "--now", then, "--lifetime", "5m"};
    words.insert(words.end(), one.sealed_for.begin(), one.sealed_for.end());
    const std::string sealed = token_of("seal", one.profile, "\"secret state\"", words).out;
    ASSERT_NE(sealed, "") << one.profile;
    std::vector<std::string> late = {"--ring", ring, "--now", "2026-01-01T01:00:00Z"};
    late.insert(late.end(), one.sealed_for.begin(), one.sealed_for.end());
    const Outcome outcome = token_of("inspect", one.profile, sealed, late);
    EXPECT_EQ(outcome.exit_code, 1) << one.profile;
    EXPECT_TRUE(contains(outcome.out, "refused           expired")) << one.profile << outcome.out;
    for (const std::string& row : one.rows) {
      EXPECT_TRUE(contains(outcome.out, row)) << one.profile << ": " << row << " is not in\n" << outcome.out;
    }
    EXPECT_FALSE(contains(outcome.out, "secret state")) << one.profile;
    late.emplace_back("--state");
    EXPECT_TRUE(contains(token_of("inspect", one.profile, sealed, late).out, "secret state")) << one.profile;

    // To who has another key nothing is shown that the right one did not vouch for.
    late[1] = other;
    const std::string strange = token_of("inspect", one.profile, sealed, late).out;
    EXPECT_FALSE(contains(strange, "expires")) << one.profile << strange;
    EXPECT_FALSE(contains(strange, "secret state")) << one.profile << strange;
  }
  // Another caller than the one whom bind() named: refused, and shown.
  const std::string alices =
      token_of("seal", "typescript-sdk-v1", "1", {"--ring", ring, "--bound", "alice"}).out;
  const std::string bobs =
      token_of("inspect", "typescript-sdk-v1", alices, {"--ring", ring, "--bound", "bob"}).out;
  EXPECT_TRUE(contains(bobs, "expires ")) << bobs;
  EXPECT_TRUE(contains(bobs, "other_arguments")) << bobs;
}

TEST_F(ProfileTest, NobodyAndACallerNamedAnonymousAreTwo) {
  run({"keys", "generate", ring, "--id", "k1"});
  const std::string nobody = token_of("seal", "python-sdk-v1", "s", {"--ring", ring}).out;
  const auto opens = [&](const std::string& token, const std::string& principal) {
    return token_of("open", "python-sdk-v1", token, {"--ring", ring, "--principal", principal});
  };
  const Outcome as_nobody = opens(nobody, "anonymous");
  EXPECT_EQ(as_nobody.exit_code, 0);
  EXPECT_TRUE(contains(as_nobody.err, "id:anonymous")) << "the literal word may have been meant as a name";
  EXPECT_EQ(opens(nobody, "id:anonymous").exit_code, 1);
  const std::string named =
      token_of("seal", "python-sdk-v1", "s", {"--ring", ring, "--principal", "id:anonymous"}).out;
  EXPECT_EQ(opens(named, "id:anonymous").exit_code, 0);
  EXPECT_EQ(opens(named, "id:anonymous").err, "");
  EXPECT_EQ(opens(named, "anonymous").exit_code, 1);
}

TEST_F(ProfileTest, ASecretIsTakenByteForByteButForTheLineEndOfAText) {
  const auto taken = [](const std::string& bytes) {
    return std::string(as_text(secret_in(as_bytes(bytes))));
  };
  const std::string text = "a passphrase, or 00ff, or YWJj+/==";
  EXPECT_EQ(taken(text + "\n"), text);
  EXPECT_EQ(taken(text + "\r\n"), text);
  EXPECT_EQ(taken(text), text);
  EXPECT_EQ(taken(text + "\n\n"), text + "\n\n") << "no single line";
  EXPECT_EQ(taken("gr\u00fcn\n"), "gr\u00fcn");
  for (const std::string& binary : {std::string("\x80 is no text\n"), std::string("\x01\n"),
                                    std::string("\0\n", 2), std::string(32, '\n'), std::string("\xff\r\n")}) {
    EXPECT_EQ(taken(binary), binary);
  }
  EXPECT_EQ(taken(""), "");

  // A binary key of 32 bytes that ends with 0x0a is one of 32 bytes.
  put_secret(std::string(31, '\x9c') + "\n");
  EXPECT_EQ(token_of("seal", "ruby-sdk-v1", "s", {"--secret-file", secret}).exit_code, 0);
  put_secret(std::string(32, 'k') + "\n");
  EXPECT_EQ(token_of("seal", "ruby-sdk-v1", "s", {"--secret-file", secret}).exit_code, 0);
  put_secret(std::string(32, 'k') + "\n\n");
  EXPECT_EQ(token_of("seal", "ruby-sdk-v1", "s", {"--secret-file", secret}).exit_code, 1);
}

}  // namespace
}  // namespace signet::cli
