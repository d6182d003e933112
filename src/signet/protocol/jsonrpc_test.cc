#include <signet/protocol/jsonrpc.h>

#include <map>
#include <string>

#include <gtest/gtest.h>

#include <signet/protocol/errors.h>

namespace signet::protocol {
namespace {

const InvalidMessage* invalid(const Message& message) { return std::get_if<InvalidMessage>(&message); }

TEST(JsonRpc, ReadsARequestAndKeepsItsIdAsWritten) {  // S1
  for (const char* id : {"1", "\"1\"", "0", "-5", "\"\"", "9007199254740993", "\"null\""}) {
    const Message message = read_message(
        std::string(R"({"jsonrpc":"2.0","method":"a/b","params":{"x":1},"future":2,"id":)") + id + "}");
    const auto* request = std::get_if<Request>(&message);
    ASSERT_NE(request, nullptr) << id;
    EXPECT_EQ(request->method, "a/b");
    EXPECT_EQ(json::write(request->id), id);
    EXPECT_EQ(json::write(request->params), R"({"x":1})");
  }
}

TEST(JsonRpc, AnIdIsAnIntegerInDigitsOrOneOf64BitsHoweverItIsWritten) {
  const std::map<std::string, std::string> echoed{{"1.0", "1"},
                                                  {"-0", "0"},
                                                  {"0.0", "0"},
                                                  {"1e2", "100"},
                                                  {"100e-2", "1"},
                                                  {"9223372036854775808", "9223372036854775808"},
                                                  {"18446744073709551615", "18446744073709551615"},
                                                  {"18446744073709551616", "18446744073709551616"},
                                                  {"-9223372036854775809", "-9223372036854775809"},
                                                  {std::string(128, '7'), std::string(128, '7')},
                                                  {"-9223372036854775808", "-9223372036854775808"}};
  for (const auto& [id, expected] : echoed) {
    const Message message = read_message(R"({"jsonrpc":"2.0","method":"a","id":)" + id + "}");
    const auto* request = std::get_if<Request>(&message);
    ASSERT_NE(request, nullptr) << id;
    EXPECT_EQ(write_reply(request->id, Json::object()),
              R"({"jsonrpc":"2.0","id":)" + expected + R"(,"result":{}})");
    EXPECT_EQ(id_key(request->id), id_key(*json::parse(expected))) << id;
  }
  for (const std::string& id :
       {std::string("1.5"), std::string("-0.0"), std::string(129, '7'), std::string("1e19999"),
        std::string("1e400"), std::string("1e-400"), std::string(1000, '7')}) {
    const Message message = read_message(R"({"jsonrpc":"2.0","method":"a","id":)" + id + "}");
    ASSERT_NE(invalid(message), nullptr) << id;
    EXPECT_EQ(invalid(message)->fault.code, invalid_request);
    EXPECT_FALSE(invalid(message)->id.has_value()) << id;
  }
  // As a text, any digits are an id.
  const std::string digits = "\"" + std::string(1000, '7') + "\"";
  const Message message = read_message(R"({"jsonrpc":"2.0","method":"a","id":)" + digits + "}");
  ASSERT_NE(std::get_if<Request>(&message), nullptr);
  EXPECT_EQ(json::write(std::get<Request>(message).id), digits);
}

TEST(JsonRpc, AMessageWithoutAnIdIsANotification) {  // B6
  const Message message = read_message(R"({"jsonrpc":"2.0","method":"notifications/x"})");
  const auto* notification = std::get_if<Notification>(&message);
  ASSERT_NE(notification, nullptr);
  EXPECT_EQ(notification->method, "notifications/x");
  EXPECT_TRUE(notification->params.is_null());
}

TEST(JsonRpc, ReadsResultsAndErrorsOfPeers) {
  const Message result = read_message(R"({"jsonrpc":"2.0","id":7,"result":{"a":1}})");
  ASSERT_NE(std::get_if<Response>(&result), nullptr);
  EXPECT_TRUE(std::get<Response>(result).reply.ok());
  const Message error = read_message(R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"m","data":[1]}})");
  ASSERT_NE(std::get_if<Response>(&error), nullptr);
  EXPECT_TRUE(std::get<Response>(error).id.is_null());
  EXPECT_EQ(std::get<Response>(error).reply.error().code, -32000);
  EXPECT_EQ(json::write(std::get<Response>(error).reply.error().data), "[1]");
}

TEST(JsonRpc, RefusesIdsThatAreNeitherStringNorInteger) {  // C1
  for (const char* id : {"null", "1.5", "true", "[1]", "{}"}) {
    const Message message = read_message(std::string(R"({"jsonrpc":"2.0","method":"a","id":)") + id + "}");
    ASSERT_NE(invalid(message), nullptr) << id;
    EXPECT_EQ(invalid(message)->fault.code, invalid_request);
    EXPECT_FALSE(invalid(message)->id.has_value()) << id;
    EXPECT_TRUE(invalid(message)->reply_expected);
  }
}

TEST(JsonRpc, RefusesWhatIsNoMessageAndNamesTheRequestWhereItCan) {  // B2
  for (const char* text :
       {R"({"id":1,"method":"a"})", R"({"jsonrpc":"1.0","id":1,"method":"a"})",
        R"({"jsonrpc":2.0,"id":1,"method":"a"})", R"({"jsonrpc":"2.0","id":1,"method":3})",
        R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","id":1,"method":"a","result":1})",
        R"({"jsonrpc":"2.0","id":1,"method":"a","params":3})"}) {
    const Message message = read_message(text);
    ASSERT_NE(invalid(message), nullptr) << text;
    EXPECT_EQ(invalid(message)->fault.code, invalid_request) << text;
    EXPECT_EQ(invalid(message)->fault.stage, Fault::Stage::envelope);
    EXPECT_EQ(write_error(invalid(message)->id, invalid(message)->fault)
                  .find(R"({"jsonrpc":"2.0","id":1,"error":{)"),
              0u)
        << text;
  }
  for (const char* text : {"[]", R"([{"jsonrpc":"2.0","id":1,"method":"a"}])", "3", "\"x\"", "null"}) {
    const Message message = read_message(text);
    ASSERT_NE(invalid(message), nullptr) << text;
    EXPECT_EQ(invalid(message)->fault.code, invalid_request) << text;
    EXPECT_FALSE(invalid(message)->id.has_value());
  }
}

TEST(JsonRpc, PositionalParamsAreInvalidParams) {
  const Message message = read_message(R"({"jsonrpc":"2.0","id":1,"method":"a","params":[]})");
  ASSERT_NE(invalid(message), nullptr);
  EXPECT_EQ(invalid(message)->fault.code, invalid_params);
}

TEST(JsonRpc, WhatDoesNotParseIsAParseErrorWithoutAnId) {
  for (const char* text : {"{", "", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}}", "{'a':1}", "[01]"}) {
    const Message message = read_message(text);
    ASSERT_NE(invalid(message), nullptr) << text;
    EXPECT_EQ(invalid(message)->fault.code, parse_error) << text;
    EXPECT_EQ(
        write_error(invalid(message)->id, invalid(message)->fault).find(R"({"jsonrpc":"2.0","error":{)"), 0u);
  }
}

TEST(JsonRpc, MalformedResponsesAndNotificationsAreNeverAnswered) {  // B5
  for (const char* text :
       {R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}})",
        R"({"jsonrpc":"2.0","result":1})", R"({"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}})",
        R"({"jsonrpc":"2.0","id":1,"error":3})", R"({"jsonrpc":"2.0","method":"a","params":[]})"}) {
    const Message message = read_message(text);
    ASSERT_NE(invalid(message), nullptr) << text;
    EXPECT_FALSE(invalid(message)->reply_expected) << text;
  }
}

TEST(JsonRpc, WritesWhatItReads) {  // B2, S3
  const std::string request = R"({"jsonrpc":"2.0","id":"a","method":"m","params":{"t":"l1\nl2"}})";
  Message message = read_message(request);
  const auto& read = std::get<Request>(message);
  EXPECT_EQ(write_request(read.id, read.method, read.params), request);
  EXPECT_EQ(write_reply(Json(3), Json::object({{"x", 1}})), R"({"jsonrpc":"2.0","id":3,"result":{"x":1}})");
  EXPECT_EQ(write_notification(Notification("n", Json())), R"({"jsonrpc":"2.0","method":"n"})");
}

TEST(JsonRpc, FilesIdsByTypeAndValue) {  // S1
  EXPECT_NE(id_key(Json(1)), id_key(Json("1")));
  EXPECT_EQ(id_key(Json(1)), id_key(Json(1.0)));
}

TEST(JsonRpc, StatusFollowsCodeAndStage) {
  EXPECT_EQ(http_status(Fault(parse_error, "")), 400);
  EXPECT_EQ(http_status(Fault(missing_capability, "")), 400);
  EXPECT_EQ(http_status(Fault(method_not_found, "")), 404);
  EXPECT_EQ(http_status(Fault(invalid_params, "")), 200);
  Fault refused(invalid_params, "");
  refused.stage = Fault::Stage::envelope;
  EXPECT_EQ(http_status(refused), 400);
}

}  // namespace
}  // namespace signet::protocol
