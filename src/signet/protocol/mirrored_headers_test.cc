#include <signet/protocol/mirrored_headers.h>

#include <map>

#include <gtest/gtest.h>

#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/header_codec.h>

namespace signet::protocol {
namespace {

Json parse(std::string_view text) {
  Result<Json, json::ParseError> value = json::parse(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? std::move(value).value() : Json();
}

TEST(HeaderCodec, PlainValuesTravelAsTheyAreAndOthersAsSentinels) {  // C22, C23
  EXPECT_EQ(encode_header_value("us west 1"), "us west 1");
  EXPECT_EQ(encode_header_value(""), "");
  EXPECT_EQ(encode_header_value(" a"), "=?base64?IGE=?=");
  EXPECT_EQ(encode_header_value("a\tb"), "=?base64?YQli?=");
  EXPECT_EQ(encode_header_value("\xc3\xa9"), "=?base64?w6k=?=");
  EXPECT_EQ(encode_header_value("=?base64?x?="), "=?base64?PT9iYXNlNjQ/eD89?=");
  EXPECT_EQ(encode_header_value("=?base64?="), "=?base64?=");
}

TEST(HeaderCodec, DecodesWhatItEncodes) {
  for (const std::string value : {"", "a", "ab", "abc", " x ", "\n",
                                  "=?base64?"
                                  "?=",
                                  "=?base64?SGVsbG8=", "\xf0\x9f\x98\x80"}) {
    const auto decoded = decode_header_value(encode_header_value(value));
    ASSERT_TRUE(decoded.has_value()) << value;
    EXPECT_EQ(*decoded, value);
  }
}

TEST(HeaderCodec, RefusesSentinelsThatAreNotCanonical) {  // B20, S43
  for (const char* header :
       {"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?@@?=", "=?base64?/////w==?=",
        "=?base64?YR==?=", "=?base64?YQ=a?=", "=?base64?====?=", "\xc3\xa9",
        "a\x01"
        "b"}) {
    EXPECT_FALSE(decode_header_value(header).has_value()) << header;
  }
  EXPECT_EQ(decode_header_value("=?BASE64?YQ==?="), "=?BASE64?YQ==?=");
  EXPECT_EQ(decode_header_value("=?base64?SGVsbG8="), "=?base64?SGVsbG8=");
  EXPECT_EQ(decode_header_value(" \t echo \t "), "echo");
  EXPECT_EQ(decode_header_value("a\tb"), "a\tb");  // a field value may hold tabs, though we send none
  EXPECT_EQ(decode_header_value("=?base64?"
                                "?="),
            "");
}

TEST(MirroredHeaders, AreFoundThroughPropertiesAlone) {  // S37, S38, S39
  const auto found = mirrored_headers(parse(
      R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
          "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},"free":{"type":"number"}}})"));
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].name, "Mcp-Param-Region");
  EXPECT_EQ((*found)[1].path, (std::vector<std::string>{"deep", "n"}));
}

TEST(MirroredHeaders, RefusesBadAnnotations) {  // S37, S38, S39
  for (const char* property :
       {R"({"type":"string","x-mcp-header":""})", R"({"type":"string","x-mcp-header":"a b"})",
        R"({"type":"string","x-mcp-header":"a:"})", R"({"type":"string","x-mcp-header":"a\tb"})",
        R"({"type":"string","x-mcp-header":"é"})", R"({"type":"string","x-mcp-header":3})",
        R"({"type":"number","x-mcp-header":"A"})", R"({"type":"object","x-mcp-header":"A"})",
        R"({"type":"array","x-mcp-header":"A"})", R"({"type":"null","x-mcp-header":"A"})",
        R"({"x-mcp-header":"A"})", R"({"type":"array","items":{"type":"string","x-mcp-header":"A"}})",
        R"({"anyOf":[{"properties":{"q":{"type":"string","x-mcp-header":"A"}}}]})"}) {
    EXPECT_FALSE(mirrored_headers(parse(std::string(R"({"properties":{"p":)") + property + "}}")).ok())
        << property;
  }
  EXPECT_FALSE(mirrored_headers(parse(R"({"type":"string","x-mcp-header":"A"})")).ok());
  EXPECT_FALSE(
      mirrored_headers(
          parse(
              R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}})"))
          .ok());
  EXPECT_TRUE(mirrored_headers(parse(R"({"properties":{"x-mcp-header":{"type":"string"}}})")).ok());
}

class Check : public ::testing::Test {
 protected:
  int code(std::string_view arguments, std::map<std::string, std::string> sent) {
    const auto headers = mirrored_headers(parse(
        R"({"properties":{"r":{"type":"string","x-mcp-header":"R"},"n":{"type":"integer","x-mcp-header":"N"},
            "b":{"type":["boolean","null"],"x-mcp-header":"B"}}})"));
    const auto fault = check_mirrored(*headers, parse(arguments), [&](std::string_view name) {
      const auto found = sent.find(std::string(name));
      return found == sent.end() ? std::optional<std::string>() : found->second;
    });
    return fault ? fault->code : 0;
  }
};

TEST_F(Check, ComparesStringsByBytesAndIntegersAsNumbers) {  // S41, S38
  EXPECT_EQ(code(R"({"r":"Hello"})", {{"Mcp-Param-R", "=?base64?SGVsbG8=?="}}), 0);
  EXPECT_EQ(code(R"({"r":"Hello"})", {{"Mcp-Param-R", "hello"}}), header_mismatch);
  EXPECT_EQ(code(R"({"r":"Hello"})", {{"Mcp-Param-R", "=?base64?SGVsbG8?="}}), header_mismatch);
  EXPECT_EQ(code(R"({"n":42})", {{"Mcp-Param-N", "42.0"}}), 0);
  EXPECT_EQ(code(R"({"n":42})", {{"Mcp-Param-N", "43"}}), header_mismatch);
  EXPECT_EQ(code(R"({"n":42})", {{"Mcp-Param-N", "4x"}}), header_mismatch);
  EXPECT_EQ(code(R"({"n":9007199254740992})", {{"Mcp-Param-N", "9007199254740992"}}), header_mismatch);
  EXPECT_EQ(code(R"({"b":true})", {{"Mcp-Param-B", "true"}}), 0);
  EXPECT_EQ(code(R"({"b":true})", {{"Mcp-Param-B", "True"}}), header_mismatch);
}

TEST_F(Check, ExpectsAHeaderExactlyWhereThereIsAValue) {  // S40, S42, C24
  EXPECT_EQ(code(R"({"r":null})", {}), 0);
  EXPECT_EQ(code("{}", {}), 0);
  EXPECT_EQ(code(R"({"r":"x"})", {}), header_mismatch);
  EXPECT_EQ(code("{}", {{"Mcp-Param-R", "x"}}), header_mismatch);
  EXPECT_EQ(code(R"({"r":""})", {{"Mcp-Param-R", ""}}), 0);
}

TEST_F(Check, AcceptsWhatMirrorSends) {  // C20, C24, S36
  const auto headers = mirrored_headers(parse(
      R"({"properties":{"r":{"type":"string","x-mcp-header":"R"},"n":{"type":"integer","x-mcp-header":"N"},
                "b":{"type":"boolean","x-mcp-header":"B"}}})"));
  const Json arguments = parse("{\"r\":\" é\\n\",\"n\":-7.0,\"b\":false}");
  const auto sent = mirror(*headers, arguments);
  ASSERT_TRUE(sent.ok());
  EXPECT_EQ(sent->size(), 3u);
  const std::map<std::string, std::string> as_map(sent->begin(), sent->end());
  EXPECT_FALSE(check_mirrored(*headers, arguments, [&](std::string_view name) {
                 return std::optional<std::string>(as_map.at(std::string(name)));
               }).has_value());
  EXPECT_FALSE(mirror(*headers, parse(R"({"n":9007199254740992})")).ok());
}

}  // namespace
}  // namespace signet::protocol
