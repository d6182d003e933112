#include <signet/cli/unauthorized.h>

#include <gtest/gtest.h>

namespace signet::cli {
namespace {

TEST(Unauthorized, TheChallengeNamesItsParameters) {
  const std::string challenge =
      "Basic realm=\"a, resource_metadata=x\", Bearer error=\"invalid_token\", error_description=\"say "
      "\\\"please\\\"\" , "
      "Resource_Metadata=\"https://a.example/m\"";
  EXPECT_EQ(challenge_parameter(challenge, "resource_metadata"), "https://a.example/m");
  EXPECT_EQ(challenge_parameter(challenge, "error"), "invalid_token");
  EXPECT_EQ(challenge_parameter(challenge, "error_description"), "say \"please\"");
  EXPECT_EQ(challenge_parameter(challenge, "scope"), "");
  EXPECT_EQ(challenge_parameter("Bearer resource_metadata=https://a.example/m, scope=x", "resource_metadata"),
            "https://a.example/m");
  for (const char* broken : {"", "Bearer", "resource_metadata", "resource_metadata=", "\"", "=",
                             "\"resource_metadata=x", "xresource_metadata=1", "a=\"resource_metadata=x\\"}) {
    EXPECT_EQ(challenge_parameter(broken, "resource_metadata"), "") << broken;
  }
}

TEST(Unauthorized, TheMetadataStandsBetweenTheHostAndThePath) {
  const auto usual = [](std::string_view url) {
    return usual_metadata_url(transport::parse_http_url(url).value());
  };
  EXPECT_EQ(usual("https://a.example/mcp?x=1"), "https://a.example/.well-known/oauth-protected-resource/mcp");
  EXPECT_EQ(usual("http://a.example:8080"), "http://a.example:8080/.well-known/oauth-protected-resource");
}

TEST(Unauthorized, OnlyMetadataNamesAuthorizationServers) {
  EXPECT_EQ(
      authorization_servers(R"({"authorization_servers":["https://one.example",7,"https://two.example"]})"),
      (std::vector<std::string>{"https://one.example", "https://two.example"}));
  for (const char* other : {"", "[]", "{", R"({"authorization_servers":"x"})"}) {
    EXPECT_TRUE(authorization_servers(other).empty()) << other;
  }
}

TEST(Unauthorized, TheSentenceSaysWhoGivesTokensAndWhereTheyGo) {
  Unauthorized told;
  EXPECT_EQ(explain_unauthorized(told),
            "The server wants to know who calls (401). signet does not sign in by itself: put a token into "
            "SIGNET_TOKEN, or "
            "into a file for --token-file.");
  told.token_sent = true;
  told.description = "too\nold\x1b[31m";
  told.metadata_url = "https://a.example/m";
  const std::string asked = explain_unauthorized(told);
  EXPECT_TRUE(asked.starts_with(
      "The server does not accept this token (401): \"too old^[[31m\". Who gives tokens for it "
      "stands at https://a.example/m."))
      << asked;
  told.servers = {"https://one.example", "https://two.example"};
  EXPECT_NE(explain_unauthorized(told).find("It takes tokens of https://one.example, https://two.example."),
            std::string::npos);
}

}  // namespace
}  // namespace signet::cli
