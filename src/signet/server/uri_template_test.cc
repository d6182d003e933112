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

// With variables that may climb.
std::string climbed(std::string_view text, std::string_view uri) {
  const std::optional<Json> variables = UriTemplate::parse(text)->match(uri, Climbing::allowed);
  return variables ? json::canonical(*variables) : "no match";
}

TEST(UriTemplate, GivesNoValueThatClimbsUnlessThatIsAllowed) {  // S71
  for (const char* uri :
       {"file:///../../etc/passwd", "file:///a/../b", "file:///a/%2e%2e/b", "file:///a/%2E./b", "file:///..",
        "file:///a/..", "file:///./a", "file:///a%2F..%2Fb", "file:///a%5C..%5Cb", "file:////etc/passwd",
        "file:///%2Fetc/passwd", "file:///%5Cetc", "file:///a%00.txt"}) {
    EXPECT_EQ(matched("file:///{+path}", uri), "no match") << uri;
    EXPECT_NE(climbed("file:///{+path}", uri), "no match") << uri;
  }
  for (const char* uri : {"test://item/..", "test://item/%2e%2e", "test://item/%2e%2e%2fx",
                          "test://item/%2Fetc", "test://item/a%2F..", "test://item/%00"}) {
    EXPECT_EQ(matched("test://item/{id}", uri), "no match") << uri;
    EXPECT_NE(climbed("test://item/{id}", uri), "no match") << uri;
  }
  EXPECT_EQ(matched("test://{id}x", "test://%2Fax"), "no match");
}

TEST(UriTemplate, TakesDotsThatDoNotClimb) {  // S71
  EXPECT_EQ(matched("file:///{+path}", "file:///a.b/..c/d../...e"), R"({"path":"a.b/..c/d../...e"})");
  EXPECT_EQ(matched("file:///{+path}", "file:///.hidden"), R"({"path":".hidden"})");
  EXPECT_EQ(matched("file://{+path}", "file:///srv/ada"), R"({"path":"/srv/ada"})");
  EXPECT_EQ(matched("test:{+path}", "test:/a//b/"), R"({"path":"/a//b/"})");
}

TEST(UriTemplate, IsAnAbsoluteUriWhateverItsValues) {  // S68
  for (const char* text : {"http://h:{port}/x", "urn:{a}", "test://{a}?q={b}#{c}"})
    EXPECT_TRUE(UriTemplate::parse(text).ok()) << text;
  for (const char* text : {"{a}", "x/{a}", "test://a b/{a}", "test://\xc3\xa9/{a}", "test://%zz/{a}", ""})
    EXPECT_EQ(matched(text, "test://x"), "no template") << text;
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

TEST(AbsoluteUri, IsOneOfRfc3986) {  // S68, S71
  for (const char* uri : {"test://x", "urn:x", "file:///a%20b", "a+b.c-d:x", "file:///../x", "test://a?b#c"})
    EXPECT_TRUE(is_absolute_uri(uri)) << uri;
  for (const char* uri :
       {"", "x", ":x", "1a:x", "test:", "test://a b", "test://\xc3\xa9", "te st:x", "not a uri",
        "test://item/{id}", "test://a\\b", "test://a%", "test://a%zz", "test://a<b>"}) {
    EXPECT_FALSE(is_absolute_uri(uri)) << uri;
  }
}

}  // namespace
}  // namespace signet::detail
