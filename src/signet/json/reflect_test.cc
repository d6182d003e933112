#include <signet/json/reflect.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include <signet/json/format.h>
#include <signet/json/text.h>

namespace shop {

enum class Colour { red, green, dark_blue };
enum class Resolution : std::uint8_t { fixed = 3, wont_fix = 200 };
enum Plain : int { first_plain = -2, second_plain = 5 };

struct Address {
  std::string street;
  std::optional<std::string> zip;
};

struct Order {
  signet::described<"How many", signet::ranged<1, 10>> count = 1;
  Address to;
  std::vector<Colour> colours;
  std::map<std::string, double> prices;
  bool urgent = false;
  bool sure;
  signet::Json more;
  signet::header<"Region", std::string> region = "eu";
  signet::named<"order-id", std::uint8_t> order_id;
};

struct Tree {
  int value = 0;
  std::vector<Tree> children;
};

struct Forest {
  Tree tallest;
  std::optional<Tree> oldest;
};

struct Nothing {};

struct Form {
  signet::titled<"Full name", signet::described<"As on the passport", signet::sized<1, 5>>> name;
  std::optional<signet::Email> mail;
  Colour colour = Colour::green;
  Resolution how;
  signet::sized<1, 2, std::vector<Resolution>> several;
  double share = 0.5;
  bool agreed = false;
  signet::Date day = "2026-07-28";
};

struct Wide {
  int m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21,
      m22, m23, m24;
};

}  // namespace shop

template <>
struct signet::Choices<shop::Resolution> {
  static constexpr signet::Choice<shop::Resolution> list[] = {
      {shop::Resolution::fixed, "fixed", "Fixed"}, {shop::Resolution::wont_fix, "wont_fix", "Won't fix"}};
};

namespace signet::json {
namespace {

using namespace shop;

Json text(std::string_view json) { return *parse(json); }

template <typename T>
std::string complaint(std::string_view json) {
  auto value = from_json<T>(text(json));
  return value.ok() ? "accepted" : value.error().message;
}

struct Hidden {
  int inside_an_unnamed_namespace;
};

TEST(Members, HaveTheirNames) {
  EXPECT_EQ(member_count<Order>, 9u);
  EXPECT_EQ(member_names<Order>[0], "count");
  EXPECT_EQ(member_names<Order>[8], "order_id");
  EXPECT_EQ(member_names<Hidden>[0], "inside_an_unnamed_namespace");
  struct Local {
    std::optional<std::string> within_a_function;
  };
  EXPECT_EQ(member_names<Local>[0], "within_a_function");
  EXPECT_EQ(member_count<Wide>, 24u);
  EXPECT_EQ(member_names<Wide>[23], "m24");
  EXPECT_EQ(member_count<Nothing>, 0u);
}

TEST(Members, TellWhetherTheyHaveAnInitialiser) {
  struct Scalars {
    bool a = false;
    bool b;
    int c = 0;
    int d;
    double e = 0;
    double f;
    Colour g = Colour::red;
    Colour h;
    described<"x", int> i = 0;
    described<"x", int> j;
    std::string k;
    bool l = true;
    bool m;
  };
  const std::array<bool, 13> expected = {true,  false, true,  false, true, false, true,
                                         false, true,  false, true,  true, false};
  EXPECT_EQ(initialised_members<Scalars>(), expected);
}

TEST(Enums, HaveTheirNames) {
  ASSERT_EQ(enum_entries<Colour>().size(), 3u);
  EXPECT_EQ(enum_entries<Colour>()[2].name, "dark_blue");
  EXPECT_EQ(enum_entries<Colour>()[2].value, 2);
  ASSERT_EQ(enum_entries<Plain>().size(), 2u);
  EXPECT_EQ(enum_entries<Plain>()[0].name, "first_plain");
  EXPECT_EQ(enum_entries<Plain>()[0].value, -2);
  enum class Local : std::uint8_t { a, b = 127 };
  ASSERT_EQ(enum_entries<Local>().size(), 2u);
  EXPECT_EQ(enum_entries<Local>()[1].name, "b");
  ASSERT_EQ(enum_entries<Resolution>().size(), 2u);
  EXPECT_EQ(enum_entries<Resolution>()[1].title, "Won't fix");
}

TEST(Wrappers, AreUsedAsTheTypeInside) {
  Order order{.count = 3,
              .to = {.street = "Main", .zip = {}},
              .colours = {},
              .prices = {},
              .sure = true,
              .more = {},
              .region = "us",
              .order_id = std::uint8_t{7}};
  EXPECT_EQ(order.count + 1, 4);
  EXPECT_EQ(order.region + "-west", "us-west");
  EXPECT_EQ(order.region.size(), 2u);
  order.region = "ap";
  order.count = 5;
  const std::string& region = order.region;
  EXPECT_EQ(region, "ap");
  switch (described<"x", Colour> colour = Colour::green; colour) {
    case Colour::green:
      break;
    default:
      FAIL();
  }
  Form form{.name = "Ada", .mail = {}, .how = Resolution::fixed, .several = std::vector{Resolution::fixed}};
  EXPECT_TRUE(form.several[0] == Resolution::fixed);
  form.mail = "a@example.com";
  EXPECT_EQ(form.mail->size(), 13u);
}

TEST(Schemas, DescribeAStruct) {
  EXPECT_EQ(schema_of<Order>(), text(R"({
    "type": "object",
    "properties": {
      "count": {"type": "integer", "minimum": 1, "maximum": 10, "description": "How many", "default": 1},
      "to": {"type": "object", "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
             "required": ["street"]},
      "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "green", "dark_blue"]}},
      "prices": {"type": "object", "additionalProperties": {"type": "number"}},
      "urgent": {"type": "boolean", "default": false},
      "sure": {"type": "boolean"},
      "more": {},
      "region": {"type": "string", "x-mcp-header": "Region", "default": "eu"},
      "order-id": {"type": "integer", "minimum": 0, "maximum": 255}
    },
    "required": ["to", "colours", "prices", "sure", "more", "order-id"]})"));
  EXPECT_EQ(schema_of<Nothing>(), text(R"({"type":"object","properties":{}})"));
  EXPECT_EQ(schema_of<std::vector<bool>>(), text(R"({"type":"array","items":{"type":"boolean"}})"));
}

TEST(Schemas, ReferToAStructInsideItself) {
  EXPECT_EQ(schema_of<Tree>(), text(R"({"type":"object","properties":{"value":{"type":"integer","default":0},
    "children":{"type":"array","items":{"$ref":"#"}}},"required":["children"]})"));
  EXPECT_EQ(schema_of<Forest>(), text(R"({"type":"object","properties":{
    "tallest":{"$ref":"#/$defs/Tree"},"oldest":{"$ref":"#/$defs/Tree"}},"required":["tallest"],
    "$defs":{"Tree":{"type":"object","properties":{"value":{"type":"integer","default":0},
      "children":{"type":"array","items":{"$ref":"#/$defs/Tree"}}},"required":["children"]}}})"));
}

TEST(Schemas, AskInForms) {
  EXPECT_EQ(form_schema_of<Form>(), text(R"({
    "type": "object",
    "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 5, "title": "Full name", "description": "As on the passport"},
      "mail": {"type": "string", "format": "email"},
      "colour": {"type": "string", "enum": ["red", "green", "dark_blue"], "default": "green"},
      "how": {"type": "string", "oneOf": [{"const": "fixed", "title": "Fixed"}, {"const": "wont_fix", "title": "Won't fix"}]},
      "several": {"type": "array", "minItems": 1, "maxItems": 2,
                  "items": {"anyOf": [{"const": "fixed", "title": "Fixed"}, {"const": "wont_fix", "title": "Won't fix"}]}},
      "share": {"type": "number", "default": 0.5},
      "agreed": {"type": "boolean", "default": false},
      "day": {"type": "string", "format": "date", "default": "2026-07-28"}
    },
    "required": ["name", "how", "several"]})"));
  EXPECT_EQ(form_schema_of<bool>(),
            text(R"({"type":"object","properties":{"value":{"type":"boolean"}},"required":["value"]})"));
}

TEST(Schemas, KnowWhatNoFormCanHold) {
  EXPECT_TRUE(FormType<Form>);
  EXPECT_TRUE(FormType<bool>);
  EXPECT_TRUE(FormType<Nothing>);
  EXPECT_TRUE((FormType<std::vector<Colour>>));
  EXPECT_FALSE(FormType<Order>);
  EXPECT_FALSE(FormType<Forest>);
  EXPECT_FALSE(FormType<Json>);
  EXPECT_FALSE((FormType<std::vector<std::string>>));
  EXPECT_FALSE((FormType<std::map<std::string, bool>>));
}

TEST(Reading, FillsAStruct) {
  const auto order =
      from_json<Order>(text(R"({"count":2.0,"to":{"street":"Main","zip":"1"},"colours":["red","dark_blue"],
    "prices":{"a":1,"b":2.5},"sure":true,"more":[1],"order-id":255,"unknown":null})"));
  ASSERT_TRUE(order.ok()) << order.error().message;
  EXPECT_EQ(order->count, 2);
  EXPECT_EQ(order->to.zip, "1");
  EXPECT_EQ(order->colours, (std::vector{Colour::red, Colour::dark_blue}));
  EXPECT_EQ(order->prices.at("b"), 2.5);
  EXPECT_FALSE(order->urgent);
  EXPECT_TRUE(order->sure);
  EXPECT_EQ(order->more, text("[1]"));
  EXPECT_EQ(order->region, "eu");
  EXPECT_EQ(order->order_id, 255);
}

TEST(Reading, NamesTheMemberThatDoesNotFit) {
  const std::string rest = R"("colours":[],"prices":{},"sure":true,"more":0,"order-id":1})";
  EXPECT_EQ(complaint<Order>("[]"), "The value must be an object.");
  EXPECT_EQ(complaint<Order>("{}"), "'to' is missing.");
  EXPECT_EQ(complaint<Order>(R"({"to":{},)" + rest), "'to.street' is missing.");
  EXPECT_EQ(complaint<Order>(R"({"count":11,"to":{"street":""},)" + rest), "'count' must be from 1 to 10.");
  EXPECT_EQ(complaint<Order>(R"({"count":1.5,"to":{"street":""},)" + rest), "'count' must be an integer.");
  EXPECT_EQ(complaint<Order>(R"({"count":"1","to":{"street":""},)" + rest), "'count' must be an integer.");
  EXPECT_EQ(complaint<Order>(R"({"count":3000000000,"to":{"street":""},)" + rest),
            "'count' is out of range.");
  EXPECT_EQ(complaint<Order>(R"({"to":{"street":5},)" + rest), "'to.street' must be a string.");
  EXPECT_EQ(complaint<Order>(R"({"to":{"street":""},"colours":["red","pink"]})"),
            "'colours[1]' must be one of: red, green, dark_blue.");
  EXPECT_EQ(complaint<Order>(R"({"to":{"street":""},"colours":[],"prices":{"a":true}})"),
            "'prices.a' must be a number.");
  EXPECT_EQ(complaint<Order>(R"({"to":{"street":""},"colours":[],"prices":{},"sure":null})"),
            "'sure' must be true or false.");
  EXPECT_EQ(complaint<std::vector<Tree>>(R"([{"children":[{"children":[{"children":0}]}]}])"),
            "'[0].children[0].children[0].children' must be an array.");
}

TEST(Reading, ChecksWhatWrappersPromise) {
  const std::string rest = R"("how":"fixed","several":["fixed"]})";
  EXPECT_EQ(complaint<Form>(R"({"name":"Ada",)" + rest), "accepted");
  EXPECT_EQ(complaint<Form>(R"({"name":"éééée",)" + rest), "accepted");
  EXPECT_EQ(complaint<Form>(R"({"name":"",)" + rest), "'name' must have at least 1 characters.");
  EXPECT_EQ(complaint<Form>(R"({"name":"éééééé",)" + rest), "'name' must have at most 5 characters.");
  EXPECT_EQ(complaint<Form>(R"({"name":"Ada","mail":"nobody",)" + rest), "'mail' must be an e-mail address.");
  EXPECT_EQ(complaint<Form>(R"({"name":"Ada","day":"tomorrow",)" + rest),
            "'day' must be a date, such as 2026-07-28.");
  EXPECT_EQ(complaint<Form>(R"({"name":"Ada","how":"fixed","several":[]})"),
            "'several' must have at least 1 elements.");
}

TEST(Reading, ChecksTheRangeOfEveryInteger) {
  EXPECT_EQ(complaint<std::int8_t>("-128"), "accepted");
  EXPECT_EQ(complaint<std::int8_t>("-129"), "The value is out of range.");
  EXPECT_EQ(complaint<std::uint64_t>("18446744073709551615"), "accepted");
  EXPECT_EQ(complaint<std::uint64_t>("18446744073709551616"), "The value is out of range.");
  EXPECT_EQ(complaint<std::uint64_t>("-1"), "The value is out of range.");
  EXPECT_EQ(complaint<std::int64_t>("9223372036854775808"), "The value is out of range.");
  EXPECT_EQ(complaint<float>("1e39"), "The value is out of range.");
  EXPECT_EQ(complaint<double>("1e400"), "The value is out of range.");
}

TEST(Reading, TakesNullForAnAbsentOptional) {
  const auto address = from_json<Address>(text(R"({"street":"","zip":null})"));
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->zip, std::nullopt);
}

TEST(Reading, TakesASingleAnswerFromAForm) {
  EXPECT_TRUE(*from_form<bool>(text(R"({"value":true})")));
  EXPECT_FALSE(from_form<bool>(text(R"({})")).ok());
  EXPECT_FALSE(from_form<bool>(text("true")).ok());
  EXPECT_TRUE(from_form<Address>(text(R"({"street":"x"})")).ok());
}

TEST(Writing, IsReadBack) {
  const Json json =
      text(R"({"count":2,"to":{"street":"Main"},"colours":["red"],"prices":{"a":1.5},"urgent":true,
    "sure":false,"more":{"x":null},"region":"us","order-id":3})");
  const auto order = from_json<Order>(json);
  ASSERT_TRUE(order.ok()) << order.error().message;
  EXPECT_EQ(write(to_json(*order)), write(json));
}

TEST(Writing, KeepsWhatAFloatMeans) {
  EXPECT_EQ(write(to_json(0.1f)), "0.1");
  EXPECT_EQ(write(to_json(std::nanf(""))), "null");
}

TEST(Formats, AreThoseOfTheirStandards) {
  for (const char* good : {"a@example.com", "a.b+c@x.org", "\"joe bloggs\"@example.com", "a@[127.0.0.1]",
                           "a@[IPv6:::1]", "~a@b"}) {
    EXPECT_TRUE(has_format(good, Format::email)) << good;
  }
  for (const char* bad : {"", "a", "@b", "a@", ".a@b.c", "a.@b.c", "a..b@c.d", "joe bloggs@example.com",
                          "a@[127.0.0.300]", "a@b\n"}) {
    EXPECT_FALSE(has_format(bad, Format::email)) << bad;
  }
  for (const char* good : {"https://user:p@example.com:80/a%20b?x=/?#y", "urn:isbn:1", "mailto:a@b",
                           "http://[::1]/", "file:///etc"}) {
    EXPECT_TRUE(has_format(good, Format::uri)) << good;
  }
  for (const char* bad : {"", "example.com", "/a/b", "//host/", "http://a b", "http://a/%2", "1http://a",
                          "http://[::1", "http://a:b/", "x:\xC3\xA9"}) {
    EXPECT_FALSE(has_format(bad, Format::uri)) << bad;
  }
  for (const char* good : {"2026-07-28", "2024-02-29", "2000-02-29"})
    EXPECT_TRUE(has_format(good, Format::date)) << good;
  for (const char* bad :
       {"2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-7-28", "2026-07-32", "20260728"}) {
    EXPECT_FALSE(has_format(bad, Format::date)) << bad;
  }
  for (const char* good : {"2026-07-28T12:00:00Z", "2026-07-28t12:00:00.123z", "1998-12-31T23:59:60Z",
                           "1998-12-31T15:59:60.5-08:00"}) {
    EXPECT_TRUE(has_format(good, Format::date_time)) << good;
  }
  for (const char* bad :
       {"2026-07-28 12:00:00Z", "2026-07-28T12:00:00", "2026-07-28T24:00:00Z", "1998-12-31T22:59:60Z",
        "2026-07-28T12:00:00+24:00", "2026-07-28T12:00:00.Z", "2026-07-28T12:00Z"}) {
    EXPECT_FALSE(has_format(bad, Format::date_time)) << bad;
  }
}

}  // namespace
}  // namespace signet::json
