#include <signet/server/uri_template.h>

#include <signet/json/text.h>

#include <gtest/gtest.h>

namespace signet::detail {
namespace {

std::string matched(std::string_view text, std::string_view uri) {
  const Result<UriTemplate> parsed = UriTemplate::parse(text);
  if (!parsed.ok()) return "no template";
  const std::optional<Json> variables = parsed->match(uri);
  return variables ? json::canonical(*variables) : "no match";
}

TEST(UriTemplate, FindsTheVariables) {
  EXPECT_EQ(matched("test://item/{id}", "test://item/7"), R"({"id":"7"})");
  EXPECT_EQ(matched("test://{a}/{b}/data", "test://x/y/data"), R"({"a":"x","b":"y"})");
  EXPECT_EQ(matched("test://{id}-x", "test://a-x-x"), R"({"id":"a-x"})");
  EXPECT_EQ(matched("file:///{+path}", "file:///a/b/c"), R"({"path":"a/b/c"})");
  EXPECT_EQ(matched("test://plain", "test://plain"), "{}");
}

TEST(UriTemplate, DecodesPercentSequencesStrictly) {
  EXPECT_EQ(matched("test://{id}", "test://a%20%C3%A9%2Fb"), "{\"id\":\"a é/b\"}");
  EXPECT_EQ(matched("test://{id}", "test://%"), "no match");
  EXPECT_EQ(matched("test://{id}", "test://%4"), "no match");
  EXPECT_EQ(matched("test://{id}", "test://%zz"), "no match");
  EXPECT_EQ(matched("test://{id}", "test://%ff"), "no match");
}

TEST(UriTemplate, DoesNotReachAcrossSlashesOrTakeNothing) {  // S71
  EXPECT_EQ(matched("test://item/{id}", "test://item/a/b"), "no match");
  EXPECT_EQ(matched("test://item/{id}", "test://item/"), "no match");
  EXPECT_EQ(matched("test://item/{id}", "test://item/a?b"), "no match");
  EXPECT_EQ(matched("test://item/{id}", "test://other/a"), "no match");
  EXPECT_EQ(matched("test://item/{id}", "test://item/a\nb"), "no match");
  EXPECT_EQ(matched("file:///{+path}", "file:///a\x7f"), "no match");
}

TEST(UriTemplate, RefusesWhatIsNoTemplate) {
  for (const char* text :
       {"test://{", "test://}", "test://{a", "test://{a b}", "test://{}", "test://{a}{a}"}) {
    EXPECT_EQ(matched(text, "test://x"), "no template") << text;
  }
}

TEST(UriTemplate, TakesTimeInProportionOnly) {
  std::string text = "t:";
  for (int i = 0; i < 16; ++i) text += "{+v" + std::to_string(i) + "}a";
  EXPECT_EQ(matched(text, "t:" + std::string(8000, 'a') + "b"), "no match");
}

TEST(AbsoluteUri, NeedsASchemeAndVisibleAscii) {  // S68
  for (const char* uri : {"test://x", "urn:x", "file:///a%20b", "a+b.c-d:x"})
    EXPECT_TRUE(is_absolute_uri(uri)) << uri;
  for (const char* uri : {"", "x", ":x", "1a:x", "test:", "test://a b", "test://\xc3\xa9", "te st:x"}) {
    EXPECT_FALSE(is_absolute_uri(uri)) << uri;
  }
}

}  // namespace
}  // namespace signet::detail
