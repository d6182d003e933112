#include <gtest/gtest.h>

#include <map>
#include <memory>

#include <signet/auth/bearer_tokens.h>
#include <signet/auth/callback.h>
#include <signet/auth/trusted_proxy.h>
#include <signet/base/bytes.h>
#include <signet/json/text.h>

namespace signet::auth {
namespace {

CallerHeaders caller(std::string address, std::map<std::string, std::string> headers) {
  return CallerHeaders(std::move(address), [headers = std::move(headers)](std::string_view name) {
    const auto found = headers.find(std::string(name));
    return found != headers.end() ? std::optional<std::string>(found->second) : std::nullopt;
  });
}

Result<Principal, Challenge> ask(Authenticator& authenticator, const CallerHeaders& who) {
  Task<Result<Principal, Challenge>> task = authenticator.authenticate(who);
  task.start([] {});
  EXPECT_TRUE(task.finished());
  return task.take();
}

Result<Principal, Challenge> show(Authenticator& authenticator, const std::string& authorization) {
  return ask(authenticator, caller("127.0.0.1", {{"Authorization", authorization}}));
}

class Bearer : public ::testing::Test {
 protected:
  Bearer() {
    tokens.add("alice-token", "alice", {"mcp"});
    tokens.add("carol-token", "carol");
    tokens.require({"mcp"});
  }
  BearerTokens tokens;
};

TEST_F(Bearer, AKnownTokenNamesItsPrincipalWhateverTheCaseOfTheScheme) {
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER  "}) {
    const auto who = show(tokens, scheme + std::string("alice-token"));
    ASSERT_TRUE(who.ok()) << scheme;
    EXPECT_EQ(*who, Principal::authenticated("alice"));
  }
}

TEST_F(Bearer, NoCredentialsAreChallengedWithoutAnError) {
  const auto refused = ask(tokens, caller("127.0.0.1", {}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(http_status(refused.error()), 401);
  EXPECT_EQ(www_authenticate(refused.error(), "https://h/.well-known/x"),
            "Bearer scope=\"mcp\",resource_metadata=\"https://h/.well-known/x\"");
}

TEST_F(Bearer, OtherTokensAre401) {  // S93, S94
  for (const char* value : {"Bearer alice-toke", "Bearer alice-token2", "Bearer", "Bearer ",
                            "Basic alice-token", "alice-token", "Bearer alice-token x", "Bearer \xc3\xa9"}) {
    const auto refused = show(tokens, value);
    ASSERT_FALSE(refused.ok()) << value;
    EXPECT_EQ(http_status(refused.error()), 401);
    EXPECT_EQ(refused.error().error, "invalid_token");
  }
}

TEST_F(Bearer, ATokenOfAnotherServiceIs401) {  // S94
  BearerTokens elsewhere;
  elsewhere.add("alice-elsewhere", "alice", {"mcp"});
  EXPECT_TRUE(show(elsewhere, "Bearer alice-elsewhere").ok());
  EXPECT_EQ(http_status(show(tokens, "Bearer alice-elsewhere").error()), 401);
  EXPECT_EQ(http_status(show(elsewhere, "Bearer alice-token").error()), 401);
}

// As one would do it whose authorization server says for whom a token was issued.
Task<Result<Principal, Challenge>> introspect(const CallerHeaders& caller) {
  const std::string token = caller.header("Authorization").value_or("");
  const bool is_for_us = token == "Bearer for=https://here.example";
  if (is_for_us) co_return Principal::authenticated("alice");
  Challenge challenge(Challenge::Kind::unauthenticated);
  challenge.error = "invalid_token";
  co_return failure(challenge);
}

TEST(Callback, ATokenWithAnotherAudienceIs401) {  // S94
  CallbackAuthenticator authenticator(introspect);
  EXPECT_TRUE(show(authenticator, "Bearer for=https://here.example").ok());
  const auto refused = show(authenticator, "Bearer for=https://there.example");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(http_status(refused.error()), 401);
}

TEST_F(Bearer, AMissingScopeIs403) {  // S95
  const auto refused = show(tokens, "Bearer carol-token");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(http_status(refused.error()), 403);
  EXPECT_EQ(
      www_authenticate(refused.error(), ""),
      "Bearer error=\"insufficient_scope\",error_description=\"The token does not hold the scope needed\","
      "scope=\"mcp\"");
}

TEST_F(Bearer, AScopeRuleMayKnowAHierarchy) {  // S96
  tokens.add("root-token", "root", {"all"});
  EXPECT_FALSE(show(tokens, "Bearer root-token").ok());
  tokens.set_scope_rule([](const std::vector<std::string>& held, std::string_view) {
    return !held.empty() && held.front() == "all";
  });
  EXPECT_TRUE(show(tokens, "Bearer root-token").ok());
}

TEST_F(Bearer, DigestsCanBeReadFromADocument) {
  const std::string document = R"({"tokens":[{"sha256":")" + hex(sha256(as_bytes("dave-token"))) +
                               R"(","principal":"dave","scopes":["mcp"]}]})";
  ASSERT_TRUE(tokens.add_from(*json::parse(document)).ok());
  EXPECT_EQ(*show(tokens, "Bearer dave-token"), Principal::authenticated("dave"));
  for (const char* bad : {"{}", R"({"tokens":[{}]})", R"({"tokens":[{"sha256":"00","principal":"x"}]})"})
    EXPECT_FALSE(tokens.add_from(*json::parse(bad)).ok()) << bad;
}

TEST(TrustedProxy, IsBelievedFromItsOwnAddressOnly) {
  const auto proxy = TrustedProxy::create({"10.0.0.0/8", "::1"}, "X-User");
  ASSERT_TRUE(proxy.ok());
  EXPECT_EQ(*ask(**proxy, caller("10.1.2.3", {{"X-User", "alice"}})), Principal::authenticated("alice"));
  EXPECT_TRUE(ask(**proxy, caller("::ffff:10.1.2.3", {{"X-User", "alice"}})).ok());
  EXPECT_TRUE(ask(**proxy, caller("::1", {{"X-User", "alice"}})).ok());
  for (const char* address : {"11.0.0.1", "127.0.0.1", "::2", "", "10.1.2.3.4"})
    EXPECT_FALSE(ask(**proxy, caller(address, {{"X-User", "alice"}})).ok()) << address;
  EXPECT_FALSE(ask(**proxy, caller("10.1.2.3", {})).ok());
  EXPECT_FALSE(ask(**proxy, caller("10.1.2.3", {{"X-User", ""}})).ok());
}

TEST(TrustedProxy, RefusesAConfigurationThatTrustsNobodyOrNonsense) {
  EXPECT_FALSE(TrustedProxy::create({}, "X-User").ok());
  EXPECT_FALSE(TrustedProxy::create({"10.0.0.0/33"}, "X-User").ok());
  EXPECT_FALSE(TrustedProxy::create({"proxy.example"}, "X-User").ok());
  EXPECT_FALSE(TrustedProxy::create({"10.0.0.1"}, "").ok());
}

Task<Result<Principal, Challenge>> known_by_address(const CallerHeaders& caller) {
  if (caller.peer_address == "::1") co_return Principal::authenticated("neighbour");
  co_return failure(Challenge(Challenge::Kind::forbidden));
}

TEST(CallbackAuthenticator, AsksTheFunction) {
  CallbackAuthenticator authenticator(known_by_address);
  EXPECT_TRUE(ask(authenticator, caller("::1", {})).ok());
  EXPECT_EQ(http_status(ask(authenticator, caller("::2", {})).error()), 403);
}

TEST(Challenge, NoTextOfACallerCanBreakOutOfTheHeader) {
  Challenge challenge(Challenge::Kind::malformed);
  challenge.description = "a\"b\\c\r\nX: y";
  EXPECT_EQ(http_status(challenge), 400);
  EXPECT_EQ(www_authenticate(challenge, ""), "Bearer error_description=\"a\\\"b\\\\c  X: y\"");
}

}  // namespace
}  // namespace signet::auth
