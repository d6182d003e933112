#include <signet/json/schema.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include <signet/base/source_dir_for_tests.h>
#include <signet/json/pattern.h>
#include <signet/json/reflect.h>
#include <signet/json/schema_suite.h>
#include <signet/json/text.h>
#include <signet/json/uri.h>

namespace signet::json {
namespace {

Json text(std::string_view json) {
  auto value = parse(json);
  EXPECT_TRUE(value.ok()) << json;
  return value.ok() ? *value : Json();
}

Schema compiled(std::string_view schema, const SchemaOptions& options = {}) {
  auto result = Schema::compile(text(schema), options);
  if (!result) throw std::runtime_error(result.error().message);
  return *result;
}

std::string refusal(std::string_view schema, const SchemaOptions& options = {}) {
  const auto result = Schema::compile(text(schema), options);
  return result.ok() ? "compiled" : result.error().message;
}

bool fits(const Schema& schema, std::string_view instance) { return schema.validate(text(instance)).ok(); }

Violation violation(std::string_view schema, std::string_view instance, const SchemaOptions& options = {}) {
  auto result = compiled(schema, options).validate(text(instance));
  EXPECT_FALSE(result.ok()) << schema << " " << instance;
  return result.ok() ? Violation() : result.error();
}

std::string message(std::string_view schema, std::string_view instance, const SchemaOptions& options = {}) {
  return violation(schema, instance, options).message;
}

TEST(SchemaSuite, PassesEveryMandatoryTest) {  // B7
  const char* given = std::getenv("SIGNET_JSON_SCHEMA_TESTS");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(signet::testing::source_dir()) / "../shared/json-schema-tests";
  if (!std::filesystem::exists(folder / "draft2020-12")) {
    GTEST_SKIP() << "the JSON Schema test suite is not at " << folder << " (SIGNET_JSON_SCHEMA_TESTS)";
  }
  const SuiteReport report = run_suite(folder);
  for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  EXPECT_GT(report.passed, 1000u);
}

TEST(Violations, NameTheMemberAndTheKeyword) {
  const Violation found = violation(
      R"({"properties":{"a/b":{"items":{"$ref":"#/$defs/name"}}},"$defs":{"name":{"type":"string"}}})",
      R"({"a/b":["x",1]})");
  EXPECT_EQ(found.instance, "/a~1b/1");
  EXPECT_EQ(found.keyword, "/$defs/name/type");
  EXPECT_EQ(found.message, "'a/b[1]' must be a string.");
  EXPECT_FALSE(found.limit);
}

TEST(Violations, AreSentencesForAPerson) {
  EXPECT_EQ(message(R"({"type":["integer","null"]})", "1.5"), "The value must be an integer or null.");
  EXPECT_EQ(message(R"({"required":["name"]})", "{}"), "'name' is missing.");
  EXPECT_EQ(message(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"),
            "'b' is missing where 'a' is given.");
  EXPECT_EQ(message(R"({"additionalProperties":false})", R"({"x":"secret"})"), "'x' is not allowed.");
  EXPECT_EQ(message(R"({"unevaluatedProperties":false})", R"({"x":"secret"})"), "'x' is not allowed.");
  EXPECT_EQ(message(R"({"properties":{"c":{"enum":["red","blue",null]}}})", R"({"c":"secret"})"),
            "'c' must be one of: red, blue, null.");
  EXPECT_EQ(message(R"({"const":5})", "6"), "The value must be 5.");
  EXPECT_EQ(message(R"({"oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]})", "\"secret\""),
            "The value must be one of: a, b.");
  EXPECT_EQ(message(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "7"),
            "The value must be a string or null.");
  EXPECT_EQ(message(R"({"anyOf":[{"minimum":5},{"multipleOf":2}]})", "3"),
            "The value fits none of the allowed forms.");
  EXPECT_EQ(message(R"({"minLength":1})", "\"\""), "The value must have at least 1 character.");
  EXPECT_EQ(message(R"({"maxLength":2})", "\"secret\""), "The value must have at most 2 characters.");
  EXPECT_EQ(message(R"({"maximum":1.5})", "2"), "The value must be at most 1.5.");
  EXPECT_EQ(message(R"({"exclusiveMinimum":0})", "0"), "The value must be more than 0.");
  EXPECT_EQ(message(R"({"multipleOf":0.1})", "0.25"), "The value must be a multiple of 0.1.");
  EXPECT_EQ(message(R"({"pattern":"^a+$"})", "\"secret\""), "The value must match the pattern ^a+$.");
  EXPECT_EQ(message(R"({"uniqueItems":true})", R"([{"a":1,"b":2},{"b":2,"a":1.0}])"),
            "The value must not have two equal elements.");
  EXPECT_EQ(message(R"({"contains":{"type":"string"}})", "[1]"),
            "The value must have at least 1 element of the required form.");
  EXPECT_EQ(message(R"({"propertyNames":{"maxLength":3}})", R"({"long_name":1})"),
            "'long_name' has a name that is not allowed.");
  EXPECT_EQ(message(R"({"not":{"type":"string"}})", "\"secret\""),
            "The value has a form that is not allowed.");
}

TEST(Violations, ShortenLongNames) {
  const std::string name(5000, 'n');
  const Violation found = violation(R"({"additionalProperties":false})", "{\"" + name + "\":1}");
  EXPECT_LT(found.message.size(), 200u);
}

TEST(Formats, AreAnnotationsUnlessAsserted) {
  const std::string_view schema = R"({"format":"email"})";
  EXPECT_TRUE(fits(compiled(schema), "\"nobody\""));
  SchemaOptions asserted;
  asserted.assert_formats = true;
  EXPECT_EQ(message(schema, "\"nobody\"", asserted), "The value must be an e-mail address.");
  EXPECT_TRUE(fits(compiled(schema, asserted), "\"a@example.com\""));
  EXPECT_TRUE(fits(compiled(schema, asserted), "5"));
  EXPECT_TRUE(fits(compiled(R"({"format":"hostname"})", asserted), "\"-\""));
}

TEST(References, ReachDocumentsAtHandAndNothingElse) {  // B9, B10
  SchemaOptions options;
  options.documents.emplace("https://example.com/name.json", text(R"({"type":"string"})"));
  const std::string_view schema =
      R"({"$id":"https://example.com/root.json","properties":{"a":{"$ref":"name.json"}}})";
  EXPECT_TRUE(fits(compiled(schema, options), R"({"a":"x"})"));
  EXPECT_FALSE(fits(compiled(schema, options), R"({"a":1})"));
  EXPECT_EQ(violation(schema, R"({"a":1})", options).keyword, "https://example.com/name.json#/type");
  EXPECT_EQ(refusal(schema),
            "The schema's '/properties/a/$ref' leads to a schema that is not at hand; nothing is fetched.");
  EXPECT_EQ(refusal(R"({"$ref":"https://example.com/x"})"),
            "The schema's '/$ref' leads to a schema that is not at hand; nothing is fetched.");
  EXPECT_EQ(refusal(R"({"$ref":"file:///etc/passwd"})"),
            "The schema's '/$ref' leads to a schema that is not at hand; nothing is fetched.");
  EXPECT_EQ(refusal(R"({"$ref":"#/nowhere"})"), "The schema's '/$ref' leads to nothing.");
  EXPECT_EQ(refusal(R"({"$ref":"#nowhere"})"), "The schema's '/$ref' leads to an anchor that is not there.");
}

TEST(References, MayDescribeATree) {
  const Schema schema = compiled(R"({"properties":{"child":{"$ref":"#"}},"additionalProperties":false})");
  EXPECT_TRUE(fits(schema, R"({"child":{"child":{}}})"));
  EXPECT_FALSE(fits(schema, R"({"child":{"child":{"x":1}}})"));
}

TEST(Dialects, AreRefusedUnlessSupported) {  // B8
  EXPECT_EQ(refusal(R"({"$schema":"https://json-schema.org/draft/2020-12/schema"})"), "compiled");
  EXPECT_EQ(refusal(R"({"$schema":"http://json-schema.org/draft-07/schema#"})"), "compiled");
  EXPECT_EQ(
      refusal(R"({"$schema":"https://json-schema.org/draft/2019-09/schema"})"),
      "The schema's '/$schema' names a dialect that is not supported: only draft 2020-12 and draft-07 are.");
  EXPECT_NE(refusal(R"({"$schema":"http://json-schema.org/draft-04/schema#"})"), "compiled");
  EXPECT_NE(refusal(R"({"$schema":5})"), "compiled");
}

TEST(Dialects, MayRequireOnlyKnownVocabularies) {
  SchemaOptions options;
  options.documents.emplace("https://example.com/meta", text(R"({
    "$schema":"https://json-schema.org/draft/2020-12/schema",
    "$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,"https://example.com/vocab":true}})"));
  EXPECT_EQ(refusal(R"({"$schema":"https://example.com/meta"})", options),
            "The schema's '/$schema' requires a vocabulary that is not supported.");
}

TEST(Draft07, HasItsOwnKeywords) {
  const std::string head = R"({"$schema":"http://json-schema.org/draft-07/schema#",)";
  const Schema tuple =
      compiled(head + R"("items":[{"type":"string"}],"additionalItems":{"type":"integer"}})");
  EXPECT_TRUE(fits(tuple, R"(["a",1])"));
  EXPECT_FALSE(fits(tuple, R"([1])"));
  EXPECT_FALSE(fits(tuple, R"(["a","b"])"));
  const Schema dependencies = compiled(head + R"("dependencies":{"a":["b"],"c":{"required":["d"]}}})");
  EXPECT_TRUE(fits(dependencies, R"({"a":1,"b":2})"));
  EXPECT_FALSE(fits(dependencies, R"({"a":1})"));
  EXPECT_FALSE(fits(dependencies, R"({"c":1})"));
  const Schema reference = compiled(
      head +
      R"("properties":{"a":{"$ref":"#/definitions/t","type":"string"}},"definitions":{"t":{"$id":"#t","type":"integer"}}})");
  EXPECT_TRUE(fits(reference, R"({"a":1})"));
  EXPECT_FALSE(fits(reference, R"({"a":"x"})"));
  EXPECT_TRUE(fits(
      compiled(head + R"("prefixItems":[false],"dependentRequired":{"a":["b"]},"unevaluatedItems":false})"),
      "[1]"));
  EXPECT_TRUE(fits(
      compiled(head + R"("allOf":[{"$ref":"#t"}],"definitions":{"t":{"$id":"#t","type":"integer"}}})"), "1"));
  EXPECT_FALSE(
      fits(compiled(head + R"("$ref":"http://json-schema.org/draft-07/schema#"})"), R"({"minLength":-1})"));
}

TEST(MalformedSchemas, AreRefusedWithTheirPlace) {  // S8
  const std::tuple<const char*, const char*> cases[] = {
      {"5", "The schema's root must be an object, true or false."},
      {R"({"properties":{"a":5}})", "The schema's '/properties/a' must be an object, true or false."},
      {R"({"type":"text"})", "The schema's '/type' must be the name of a type, or an array of such names."},
      {R"({"minLength":-1})", "The schema's '/minLength' must be an integer that is not negative."},
      {R"({"minimum":"1"})", "The schema's '/minimum' must be a number."},
      {R"({"multipleOf":0})", "The schema's '/multipleOf' must be above zero and have at most 19 digits."},
      {R"({"required":"a"})", "The schema's '/required' must be an array of names."},
      {R"({"allOf":[]})", "The schema's '/allOf' must be an array with a schema in it."},
      {R"({"properties":[]})", "The schema's '/properties' must be an object."},
      {R"({"uniqueItems":1})", "The schema's '/uniqueItems' must be true or false."},
      {R"({"enum":1})", "The schema's '/enum' must be an array."},
      {R"({"$ref":1})", "The schema's '/$ref' must be a string."},
      {R"({"$id":"#x"})", "The schema's '/$id' must have no fragment."},
      {R"({"$anchor":"1"})", "The schema's '/$anchor' must be the name of an anchor."},
      {R"x({"pattern":"("})x",
       "The schema's '/pattern' is refused: The pattern is not a regular expression, or is too large."},
      {R"x({"pattern":"a(?=b)"})x",
       "The schema's '/pattern' is refused: The pattern looks ahead or behind, which is not supported."},
      {R"x({"patternProperties":{"(a)\\1":true}})x",
       "The schema's '/patternProperties' is refused: The pattern refers back to a group, which is not "
       "supported."},
      {R"({"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}})", "The schema's '/$defs/"},
      {R"({"$defs":{"a":{"$id":"http://x/"},"b":{"$id":"http://x/"}}})", "The schema's '"},
  };
  for (const auto& [schema, expected] : cases)
    EXPECT_TRUE(refusal(schema).starts_with(expected)) << refusal(schema);
}

TEST(SchemaLimits, BoundTheNumberOfSubschemas) {
  SchemaOptions options;
  options.subschemas_max = 3;
  EXPECT_EQ(refusal(R"({"properties":{"a":{},"b":{}}})", options), "compiled");
  EXPECT_NE(refusal(R"({"properties":{"a":{},"b":{},"c":{}}})", options), "compiled");
}

TEST(SchemaLimits, BoundTheDepthOfASchema) {
  std::string schema;
  for (int i = 0; i < 1000; ++i) schema += R"({"not":)";
  schema += "{}" + std::string(1000, '}');
  Limits deep;
  deep.depth_max = 1024;
  EXPECT_FALSE(Schema::compile(parse(schema, deep).value()).ok());
}

TEST(SchemaLimits, EndReferencesInACircle) {
  for (const char* schema : {R"({"$ref":"#"})", R"({"not":{"$ref":"#"}})", R"({"anyOf":[{"$ref":"#"},true]})",
                             R"({"$dynamicAnchor":"a","$dynamicRef":"#a"})", R"({"if":{"$ref":"#"}})"}) {
    const Violation found = violation(schema, "1");
    EXPECT_TRUE(found.limit) << schema;
    EXPECT_EQ(found.message, "The value is too large or too deep to be checked against the schema.");
  }
}

TEST(SchemaLimits, BoundTheStepsOfAValidation) {
  SchemaOptions options;
  options.steps_max = 100;
  const std::string_view schema = R"({"items":{"type":"integer"}})";
  EXPECT_TRUE(fits(compiled(schema, options), "[1,2,3]"));
  std::string many = "[1";
  for (int i = 0; i < 200; ++i) many += ",1";
  EXPECT_TRUE(violation(schema, many + "]", options).limit);
  // Doubling at each level: 2^60 evaluations, were there no bound.
  std::string doubling = R"({"$defs":{"l0":{"type":"integer"})";
  for (int i = 1; i <= 60; ++i) {
    const std::string below = R"({"$ref":"#/$defs/l)" + std::to_string(i - 1) + "\"}";
    doubling += R"(,"l)" + std::to_string(i) + R"(":{"allOf":[)" + below + "," + below + "]}";
  }
  EXPECT_TRUE(violation(doubling + R"(},"$ref":"#/$defs/l60"})", "1").limit);
}

TEST(Schemas, AreSharedBetweenThreads) {
  const Schema schema = compiled(R"({"properties":{"a":{"pattern":"^x+$"}},"unevaluatedProperties":false})");
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        right[t] +=
            fits(schema, R"({"a":"xxx"})") && !fits(schema, R"({"a":"y"})") && !fits(schema, R"({"b":1})");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 200));
}

TEST(Schemas, JudgeNumbersExactly) {
  EXPECT_FALSE(fits(compiled(R"({"maximum":9007199254740992})"), "9007199254740993"));
  EXPECT_TRUE(fits(compiled(R"({"const":1e400})"), "10e399"));
  EXPECT_FALSE(fits(compiled(R"({"maximum":1e400})"), "1e401"));
  EXPECT_TRUE(fits(compiled(R"({"type":"integer"})"), "1e400"));
  EXPECT_TRUE(fits(compiled(R"({"multipleOf":0.01})"), "19.99"));
}

TEST(Schemas, AcceptWhatTheirTypesWrite) {
  struct Inner {
    std::vector<int> numbers = {1, 2};
    std::optional<double> share;
  };
  struct Outer {
    std::string name;
    Inner inner;
    std::map<std::string, bool> flags;
  };
  const auto schema = Schema::compile(schema_of<Outer>());
  ASSERT_TRUE(schema.ok()) << schema.error().message;
  EXPECT_TRUE(schema->validate(to_json(Outer{.name = "x", .inner = {}, .flags = {{"a", true}}})).ok());
  EXPECT_FALSE(schema->validate(Json::object({{"name", 1}})).ok());
}

TEST(Patterns, AreThoseOfEcmaScript) {
  const std::tuple<const char*, const char*, bool> cases[] = {
      {"b", "abc", true},
      {"^b", "abc", false},
      {"^a$", "a\n", false},
      {"^.$", "\n", false},
      {"^.$", "\xE2\x80\xA8", false},
      {"^.$", "\xF0\x9F\x98\x80", true},
      {R"(^\s$)", "\xC2\xA0", true},
      {R"(^\S$)", "\xEF\xBB\xBF", false},
      {R"(^[\sx]$)", "\xE3\x80\x80", true},
      {R"(^[^\S]$)", "\xE3\x80\x80", true},
      {R"(^\d$)", "\xDF\x80", false},
      {R"(^\u00e9$)", "\xC3\xA9", true},
      {R"(^\ud83d\ude00$)", "\xF0\x9F\x98\x80", true},
      {R"(^\u{1F600}$)", "\xF0\x9F\x98\x80", true},
      {R"(^\cJ$)", "\n", true},
      {R"(^\x41\0?$)", "A", true},
      {R"(^[\b]$)", "\b", true},
      {R"(\bfoo\b)", "a foo b", true},
      {"[^]", "\n", true},
      {"[]", "a", false},
      {"^[[a]+$", "[a", true},
      {R"(^\p{Letter}+$)", "\xC3\xA9", true},
      {R"(^\p{Script=Greek}+$)", "\xCE\xB1", true},
      {R"(^(?<year>\d{4})-(?:a|b)$)", "2026-b", true},
      {R"(^\/\-\.$)", "/-.", true},
  };
  for (const auto& [expression, subject, expected] : cases) {
    const auto pattern = Pattern::compile(expression);
    ASSERT_TRUE(pattern.ok()) << expression << ": " << pattern.error().message;
    EXPECT_EQ(pattern->matches(subject), expected) << expression;
  }
}

TEST(Patterns, AreRefusedWhereTheyCannotBeMatchedInLinearTime) {
  for (const char* expression :
       {"(?=a)", "(?!a)", "(?<=a)", "(?<!a)", R"((a)\1)", R"((?<x>a)\k<x>)", R"(\a)", R"(\Z)", "(?i)a", "[a",
        "a\\", R"(\u12)", R"(\cé)", "a{2,1}", "((a{1000}){1000}){1000}", R"(\p{Nowhere})", "\xFF"}) {
    EXPECT_FALSE(Pattern::compile(expression).ok()) << expression;
  }
  EXPECT_TRUE(Pattern::compile(std::string(4096, 'a')).ok());
  EXPECT_FALSE(Pattern::compile(std::string(4097, 'a')).ok());
}

// RFC 3986, section 5.4.
TEST(Uris, ResolveAsTheStandardSays) {
  const std::tuple<const char*, const char*> cases[] = {{"g:h", "g:h"},
                                                        {"g", "http://a/b/c/g"},
                                                        {"./g", "http://a/b/c/g"},
                                                        {"g/", "http://a/b/c/g/"},
                                                        {"/g", "http://a/g"},
                                                        {"//g", "http://g"},
                                                        {"?y", "http://a/b/c/d;p?y"},
                                                        {"g?y", "http://a/b/c/g?y"},
                                                        {"#s", "http://a/b/c/d;p?q#s"},
                                                        {"g#s", "http://a/b/c/g#s"},
                                                        {"", "http://a/b/c/d;p?q"},
                                                        {".", "http://a/b/c/"},
                                                        {"..", "http://a/b/"},
                                                        {"../g", "http://a/b/g"},
                                                        {"../../g", "http://a/g"},
                                                        {"../../../g", "http://a/g"},
                                                        {"/./g", "http://a/g"},
                                                        {"g.", "http://a/b/c/g."},
                                                        {"./g/.", "http://a/b/c/g/"},
                                                        {"g;x=1/../y", "http://a/b/c/y"}};
  for (const auto& [reference, expected] : cases)
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), expected);
}

}  // namespace
}  // namespace signet::json
