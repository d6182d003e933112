#include <signet/protocol/era.h>

#include <gtest/gtest.h>

#include <signet/json/text.h>
#include <signet/protocol/capabilities.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/meta.h>
#include <signet/protocol/versions.h>

namespace signet::protocol {
namespace {

Json parse(std::string_view text) {
  Result<Json, json::ParseError> value = json::parse(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? std::move(value).value() : Json();
}

Json modern_params(std::string_view version = "2026-07-28") {
  Json params = parse(R"({"name":"echo","_meta":{"io.modelcontextprotocol/clientCapabilities":{}}})");
  params.find("_meta")->set("io.modelcontextprotocol/protocolVersion", version);
  return params;
}

StandardHeaders headers(std::optional<std::string_view> version, std::optional<std::string_view> method,
                        std::optional<std::string_view> name) {
  StandardHeaders out;
  out.protocol_version = version;
  out.method = method;
  out.name = name;
  return out;
}

int code_of(const Result<Era, Fault>& decision) { return decision.ok() ? 0 : decision.error().code; }

TEST(Era, ACompleteModernRequestIsModern) {  // B1
  const Request request(1, "tools/call", modern_params());
  const auto decision = decide_http_request(request, headers("2026-07-28", "tools/call", "echo"), false);
  ASSERT_TRUE(decision.ok());
  EXPECT_EQ(*decision, Era::modern);
}

TEST(Era, EachStandardHeaderIsRequiredAndMustMatch) {  // S32, S35, S36
  const Request request(1, "tools/call", modern_params());
  using H = std::optional<std::string_view>;
  const H none;
  for (const StandardHeaders& wrong :
       {headers(none, "tools/call", "echo"), headers("2026-07-28", none, "echo"),
        headers("2026-07-28", "tools/call", none), headers("2025-11-25", "tools/call", "echo"),
        headers("2026-07-28", "Tools/Call", "echo"), headers("2026-07-28", "tools/call", "Echo"),
        headers("2026-07-28", "tools/call", "=?base64?ZWNobw?="),
        headers("2026-07-28", "tools/call", "=?BASE64?ZWNobw==?=")}) {
    EXPECT_EQ(code_of(decide_http_request(request, wrong, false)), header_mismatch);
  }
  EXPECT_TRUE(
      decide_http_request(request, headers("2026-07-28", "tools/call", "=?base64?ZWNobw==?="), false).ok());
}

TEST(Era, ATaskIsNamedInMcpName) {  // X15
  Json params = modern_params();
  params.set("taskId", "t1");
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const Request request(1, method, params);
    EXPECT_TRUE(decide_http_request(request, headers("2026-07-28", method, "t1"), false).ok()) << method;
    EXPECT_EQ(code_of(decide_http_request(request, headers("2026-07-28", method, "t2"), false)),
              header_mismatch);
    EXPECT_EQ(code_of(decide_http_request(request, headers("2026-07-28", method, {}), false)),
              header_mismatch);
  }
}

TEST(Era, AMissingEnvelopeComesBeforeHeadersAndHeadersBeforeTheVersion) {  // S9, S12
  const Request bare(1, "tools/list", Json());
  EXPECT_EQ(code_of(decide_http_request(bare, headers("2026-07-28", "x", "y"), false)), invalid_params);
  const Request unknown(1, "tools/list", modern_params("v999.0.0"));
  EXPECT_EQ(code_of(decide_http_request(unknown, headers("2026-07-28", "tools/list", {}), false)),
            header_mismatch);
  const auto refused = decide_http_request(unknown, headers("v999.0.0", "tools/list", {}), false);
  ASSERT_EQ(code_of(refused), unsupported_version);
  EXPECT_EQ(json::write(refused.error().data), R"({"supported":["2026-07-28"],"requested":"v999.0.0"})");
}

TEST(Era, TheEnvelopeWinsOverTheNameInitialize) {
  const Request request(1, "initialize", modern_params());
  const auto decision = decide_http_request(request, headers("2026-07-28", "initialize", {}), false);
  ASSERT_TRUE(decision.ok());
  EXPECT_EQ(*decision, Era::modern);
}

TEST(Era, RequestsWithoutAClaimBelongToTheHandshakeWhateverMcpMethodSays) {
  const Request opening(1, "initialize", parse(R"({"protocolVersion":"2025-11-25"})"));
  const Request later(2, "tools/list", Json());
  EXPECT_EQ(*decide_http_request(opening, headers("2025-11-25", "initialize", {}), false), Era::initialize);
  EXPECT_EQ(*decide_http_request(later, headers({}, "tools/list", {}), false), Era::handshake);
  EXPECT_EQ(*decide_http_request(later, headers("2025-03-26", {}, {}), false), Era::handshake);
  EXPECT_FALSE(decide_http_request(later, headers("1999-01-01", {}, {}), false).ok());
  EXPECT_EQ(code_of(decide_http_request(opening, headers("2026-07-28", {}, {}), false)), header_mismatch);
}

TEST(Era, AModernOnlyServerNamesItsVersions) {  // S34
  const Request opening(1, "initialize", parse(R"({"protocolVersion":"2025-11-25"})"));
  const Request later(2, "tools/list", Json());
  EXPECT_EQ(code_of(decide_http_request(opening, headers({}, {}, {}), true)), unsupported_version);
  EXPECT_EQ(code_of(decide_http_request(later, headers({}, {}, {}), true)), invalid_params);
  const auto named = decide_http_request(later, headers("2025-11-25", {}, {}), true);
  ASSERT_EQ(code_of(named), unsupported_version);
  EXPECT_EQ(*named.error().data.find_string("requested"), "2025-11-25");
  EXPECT_EQ(code_of(decide_stdio_request(opening, false, true)), unsupported_version);
}

TEST(Era, OnAPipeEachRequestIsDecidedByItself) {  // S9
  const Request modern(1, "tools/call", modern_params());
  const Request bare(1, "tools/call", Json());
  EXPECT_EQ(*decide_stdio_request(modern, false, false), Era::modern);
  EXPECT_EQ(*decide_stdio_request(modern, true, false), Era::modern);
  EXPECT_EQ(code_of(decide_stdio_request(bare, false, false)), invalid_params);
  EXPECT_EQ(*decide_stdio_request(bare, true, false), Era::handshake);
  const Request half(1, "x", parse(R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})"));
  EXPECT_EQ(code_of(decide_stdio_request(half, true, false)), invalid_params);
}

TEST(Era, OnAPipePingOfTheHandshakeRevisionsGoesBeforeTheHandshake) {
  const Request ping(1, "ping", Json());
  EXPECT_EQ(*decide_stdio_request(ping, false, false), Era::handshake);
  EXPECT_EQ(*decide_stdio_request(ping, true, false), Era::handshake);
  EXPECT_EQ(code_of(decide_stdio_request(ping, false, true)), invalid_params);
  EXPECT_EQ(*decide_stdio_request(Request(1, "ping", modern_params()), false, false), Era::modern);
}

TEST(Envelope, NamesEveryMissingAndMalformedKey) {  // S9
  const auto missing = read_envelope(parse(R"({"_meta":{}})"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(json::write(*missing.error().data.find("missing")),
            R"(["io.modelcontextprotocol/protocolVersion","io.modelcontextprotocol/clientCapabilities"])");
  const auto malformed = read_envelope(parse(
      R"({"_meta":{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":[],
          "io.modelcontextprotocol/logLevel":"loud"}})"));
  ASSERT_FALSE(malformed.ok());
  EXPECT_EQ(malformed.error().data.find("malformed")->as_array()->size(), 3u);
}

TEST(Envelope, CapabilitiesThatTheSchemaKnowsAreObjects) {  // S9
  const auto is_read = [](const std::string& capabilities) {
    return read_envelope(parse(R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                               R"("io.modelcontextprotocol/clientCapabilities":)" +
                               capabilities + "}}"))
        .ok();
  };
  for (const char* good :
       {"{}", R"({"elicitation":{}})", R"({"elicitation":{"form":{},"url":{"x":1},"other":1}})",
        R"({"sampling":{"tools":{},"context":{}},"roots":{"listChanged":true}})",
        R"({"experimental":{"a":{}},"extensions":{"com.example/x":{"y":1}}})",
        R"({"future":null,"more":[1]})"}) {
    EXPECT_TRUE(is_read(good)) << good;
  }
  for (const char* bad :
       {"null", "[]", R"({"elicitation":null})", R"({"elicitation":[]})", R"({"elicitation":{"form":true}})",
        R"({"elicitation":{"url":null}})", R"({"sampling":true})", R"({"sampling":{"tools":1}})",
        R"({"sampling":{"context":"x"}})", R"({"roots":true})", R"({"experimental":[]})",
        R"({"experimental":{"a":1}})", R"({"extensions":null})",
        R"({"extensions":{"com.example/x":true}})"}) {
    EXPECT_FALSE(is_read(bad)) << bad;
  }
}

TEST(Envelope, WritesWhatItReads) {
  Envelope envelope;
  envelope.protocol_version = "2026-07-28";
  envelope.client_capabilities = parse(R"({"roots":{"listChanged":true}})");
  envelope.log_level = "info";
  const auto read = read_envelope(with_envelope(parse(R"({"_meta":{"progressToken":3}})"), envelope));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->client_capabilities, envelope.client_capabilities);
  EXPECT_EQ(read->log_level, "info");
}

TEST(MetaKeys, FollowTheGrammar) {  // B12, B14
  for (const char* key : {"", "a", "a.b-c_d", "com.example/key", "io.x-1/", "1"})
    EXPECT_TRUE(is_meta_key(key)) << key;
  for (const char* key : {"/a", "1a/b", "a-/b", "a..b/c", "-a", "a-", "a/b/c", "\xc3\xa9"})
    EXPECT_FALSE(is_meta_key(key)) << key;
  EXPECT_TRUE(is_extension_id("io.modelcontextprotocol/tasks"));
  EXPECT_FALSE(is_extension_id("tasks"));
}

TEST(Capabilities, AnEmptyElicitationMeansFormOnly) {  // C42
  const Json declared = parse(R"({"elicitation":{}})");
  EXPECT_TRUE(ClientCapabilities(declared).has(Capability::elicitation_form));
  EXPECT_FALSE(ClientCapabilities(declared).has(Capability::elicitation_url));
  const Json url = parse(R"({"elicitation":{"url":{}}})");
  EXPECT_FALSE(ClientCapabilities(url).has(Capability::elicitation_form));
  EXPECT_TRUE(ClientCapabilities(url).has(Capability::elicitation_url));
}

TEST(Capabilities, TheFaultNamesExactlyWhatIsMissing) {  // S10
  const Json declared = parse(R"({"sampling":{},"roots":3})");
  const ClientCapabilities view(declared);
  EXPECT_FALSE(missing_capabilities(view, {Capability::sampling}).has_value());
  const auto fault =
      missing_capabilities(view, {Capability::sampling, Capability::sampling_tools, Capability::roots});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->code, missing_capability);
  EXPECT_EQ(json::write(fault->data), R"({"requiredCapabilities":{"sampling":{"tools":{}},"roots":{}}})");
}

TEST(Versions, AHandshakeFallsBackToTheNewest) {
  EXPECT_EQ(negotiate_handshake("2025-03-26"), "2025-03-26");
  EXPECT_EQ(negotiate_handshake("1999-01-01"), "2025-11-25");
  EXPECT_EQ(negotiate_handshake("2026-07-28"), "2025-11-25");
  EXPECT_TRUE(names_modern_era("2099-01-01"));
  EXPECT_FALSE(names_modern_era("v999.0.0"));
}

}  // namespace
}  // namespace signet::protocol
