#include <signet/protocol/sampling_messages.h>

#include <gtest/gtest.h>

#include <signet/json/text.h>

namespace signet::protocol {
namespace {

std::optional<std::string> fault_of(std::string_view text) {
  const Result<Json, json::ParseError> messages = json::parse(text);
  EXPECT_TRUE(messages.ok()) << text;
  return sampling_messages_fault(*messages);
}

constexpr std::string_view asked = R"({"role":"user","content":{"type":"text","text":"?"}})";
constexpr std::string_view used =
    R"({"role":"assistant","content":[{"type":"text","text":"!"},{"type":"tool_use","id":"a","name":"t","input":{}},
       {"type":"tool_use","id":"b","name":"t","input":{}}]})";
constexpr std::string_view answered =
    R"({"role":"user","content":[{"type":"tool_result","toolUseId":"b","content":[]},
       {"type":"tool_result","toolUseId":"a","content":[]}]})";

std::string joined(std::initializer_list<std::string_view> messages) {
  std::string text;
  for (const std::string_view message : messages) {
    text += text.empty() ? "[" : ",";
    text += message;
  }
  return text + "]";
}

TEST(SamplingMessages, AreAConversationWhoseToolUsesAreAnsweredAtOnce) {  // B26, B27
  EXPECT_EQ(fault_of("[]"), std::nullopt);
  EXPECT_EQ(fault_of(joined({asked})), std::nullopt);
  EXPECT_EQ(fault_of(joined({asked, used, answered})), std::nullopt);
  EXPECT_EQ(fault_of(joined({asked, used, answered, used, answered, asked})), std::nullopt);
  EXPECT_EQ(fault_of(R"([{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":{}}},
                         {"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[]}}])"),
            std::nullopt);
}

TEST(SamplingMessages, AreRefusedWhereAUseIsNotAnswered) {  // B26
  const std::string half =
      R"({"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[]}]})";
  const std::string mixed =
      R"({"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[]},
         {"type":"tool_result","toolUseId":"b","content":[]},{"type":"text","text":"and"}]})";
  const std::string twice =
      R"({"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[]},
         {"type":"tool_result","toolUseId":"a","content":[]}]})";
  const std::string by_user =
      R"({"role":"user","content":{"type":"tool_use","id":"a","name":"t","input":{}}})";
  EXPECT_NE(fault_of(joined({used})), std::nullopt);
  EXPECT_NE(fault_of(joined({used, asked})), std::nullopt);
  EXPECT_NE(fault_of(joined({used, used})), std::nullopt);
  EXPECT_NE(fault_of(joined({used, half})), std::nullopt);
  EXPECT_NE(fault_of(joined({used, mixed})), std::nullopt);
  EXPECT_NE(fault_of(joined({used, twice})), std::nullopt);
  EXPECT_NE(fault_of(joined({answered})), std::nullopt);
  EXPECT_NE(fault_of(joined({used, answered, answered})), std::nullopt);
  EXPECT_NE(fault_of(joined({by_user})), std::nullopt);
}

TEST(SamplingMessages, AreRefusedWithoutRoleOrContent) {  // B27
  for (const char* messages :
       {"{}", "null", "[5]", R"([{"role":"user"}])", R"([{"content":{"type":"text","text":"x"}}])",
        R"([{"role":"system","content":{"type":"text","text":"x"}}])", R"([{"role":"user","content":"x"}])",
        R"([{"role":"user","content":{"text":"x"}}])"})
    EXPECT_NE(fault_of(messages), std::nullopt) << messages;
}

}  // namespace
}  // namespace signet::protocol
