#include <signet/server/server.h>

#include <signet/base/one_shot.h>
#include <signet/protocol/errors.h>
#include <signet/server/kept_reply.h>
#include <signet/server/test_support.h>
#include <signet/server/testing_store.h>
#include <signet/token/key_ring.h>

#include <gtest/gtest.h>

namespace signet {
namespace {

using namespace testing;

struct Sure {
  bool ok;
};

Task<ToolResult> act(Call& call, int* effects) {
  Elicited<Sure> sure = co_await call.elicit<Sure>("sure", "Sure?");
  Elicited<Sure> really = co_await call.elicit<Sure>("really", "Really?");
  co_return text("effect " + std::to_string(++*effects) + (sure->ok && really->ok ? "" : " not"));
}

Task<ToolResult> act_late(Call& call, int* effects, OneShot<int> event) {
  Elicited<Sure> sure = co_await call.elicit<Sure>("sure", "Sure?");
  const int value = co_await event;
  co_return text("effect " + std::to_string(*effects += value) + (sure->ok ? "" : " not"));
}

class RedemptionTest : public ::testing::Test {
 protected:
  RedemptionTest() {
    for (const auto& [name, redemption] :
         {std::pair("many", Redemption::many), std::pair("once", Redemption::once),
          std::pair("reply", Redemption::once_with_reply)}) {
      server_.tool(
          name, "Acts.", [this](Call& call) { return act(call, &effects_); },
          ToolOptions().redemption(redemption));
    }
  }
  Reply call(const Json& params) { return ask(server_, "tools/call", modern(params)); }
  static Json retry(Json params, const Reply& asked, std::string_view responses) {
    params.set("requestState", at(asked, {"requestState"}));
    params.set("inputResponses", parsed(responses));
    return params;
  }
  static bool refused(const Reply& reply) {
    return !reply.ok() && reply.error().message == "Invalid or expired requestState";
  }
  Json first(const char* tool) { return retry(call_params(tool), call(call_params(tool)), sure_); }
  Json second(const char* tool, const Json& answered) {
    return retry(call_params(tool), call(answered), really_);
  }

  static constexpr std::string_view sure_ = R"({"sure":{"action":"accept","content":{"ok":true}}})";
  static constexpr std::string_view really_ = R"({"really":{"action":"accept","content":{"ok":true}}})";
  int effects_ = 0;
  std::shared_ptr<ClaimsStore> store_ = std::make_shared<ClaimsStore>();
  std::string events_;  // of the log, errors and warnings
  Server server_{ServerInfo("s", "1"),
                 ServerOptions().redemption_store(store_).log(
                     [this](LogLevel level, std::string_view event, std::initializer_list<LogField>) {
                       if (level >= LogLevel::warning) events_.append(event).append(" ");
                     })};
};

TEST_F(RedemptionTest, ManyMayBeRepeated) {
  const Json last = second("many", first("many"));
  EXPECT_EQ(text_of(call(last)), "effect 1");
  EXPECT_EQ(text_of(call(last)), "effect 2");
}

// What a server logs about a tool of this redemption, with this ring and a store that lasts or does not.
std::string warned(Redemption redemption, std::shared_ptr<token::RingSource> ring, bool lasts) {
  const auto store = std::make_shared<ClaimsStore>();
  store->lasts = lasts;
  std::string said;
  Server server(ServerInfo("s", "1"), ServerOptions()
                                          .ring(std::move(ring))
                                          .redemption_store(store)
                                          .log([&said](LogLevel level, std::string_view event,
                                                       std::initializer_list<LogField> fields) {
                                            if (level != LogLevel::warning) return;
                                            said += event;
                                            for (const auto& [name, value] : fields) {
                                              if (name == "name") said += " " + value;
                                            }
                                          }));
  int effects = 0;
  server.tool(
      "pay", "Pays.", [&effects](Call& call) { return act(call, &effects); },
      ToolOptions().redemption(redemption));
  return said;
}

TEST(Redemption, WarnsWhereStatesOutliveTheProcessAndClaimsDoNot) {
  const auto fixed = [] {
    std::vector<token::KeyEntry> keys;
    keys.push_back(token::generate_key("k1", token::KeyStage::seal, system_clock().now(), system_entropy()));
    return std::make_shared<token::SharedRing>(token::KeyRing::make(std::move(keys)).value());
  };
  EXPECT_EQ(warned(Redemption::once, fixed(), false), "once_in_this_process_only pay");
  EXPECT_EQ(warned(Redemption::once_with_reply, fixed(), false), "once_in_this_process_only pay");
  EXPECT_EQ(warned(Redemption::once, fixed(), true), "");
  EXPECT_EQ(warned(Redemption::many, fixed(), false), "");
  EXPECT_EQ(warned(Redemption::once, nullptr, false), "");
  EXPECT_EQ(warned(Redemption::once, token::ephemeral_ring(system_entropy()), false), "");
}

TEST_F(RedemptionTest, OnceIsOnceInEveryRound) {  // S50
  const Json one = first("once");
  const Json last = second("once", one);
  EXPECT_TRUE(refused(call(one)));  // no fork from an earlier round
  EXPECT_EQ(text_of(call(last)), "effect 1");
  EXPECT_TRUE(refused(call(last)));
  EXPECT_EQ(effects_, 1);
}

TEST_F(RedemptionTest, OnceWithReplyRepeatsTheReplyToTheSameAnswersOnly) {
  const Json one = first("reply");
  const Json last = second("reply", one);
  EXPECT_EQ(at(call(one), {"requestState"}), *last.find("requestState"));  // the interim reply too
  EXPECT_EQ(text_of(call(last)), "effect 1");
  EXPECT_EQ(text_of(call(last)), "effect 1");
  Json otherwise = last;
  otherwise.set("inputResponses", parsed(R"({"really":{"action":"decline"}})"));
  EXPECT_TRUE(refused(call(otherwise)));
  EXPECT_EQ(effects_, 1);
}

TEST_F(RedemptionTest, FailsClosedWithoutItsStore) {
  const Json last = second("once", first("once"));
  store_->broken = true;
  EXPECT_TRUE(refused(call(last)));
  EXPECT_EQ(effects_, 0);
  store_->broken = false;
  EXPECT_EQ(text_of(call(last)), "effect 1") << "nothing was claimed";
}

TEST_F(RedemptionTest, MakesASecondRetryWaitForTheFirst) {
  OneShot<int> event;
  server_.tool(
      "waits", "Acts late.", [this, event](Call& call) { return act_late(call, &effects_, event); },
      ToolOptions().redemption(Redemption::once_with_reply));
  const Json answered = first("waits");
  ManualExecutor executor;
  Exchanged one(server_, executor, Request(1, "tools/call", modern(answered)));
  Exchanged two(server_, executor, Request(2, "tools/call", modern(answered)));
  executor.advance(std::chrono::milliseconds(100));
  EXPECT_FALSE(one.reply || two.reply);
  executor.post([event] { event.set(1); });
  executor.run();
  executor.advance(std::chrono::seconds(1));
  ASSERT_TRUE(one.reply && two.reply);
  EXPECT_EQ(text_of(*one.reply), "effect 1");
  EXPECT_EQ(text_of(*two.reply), "effect 1");
}

TEST_F(RedemptionTest, AKeptReplyLiesSealedAndOpensForItsOwnClaimAlone) {
  const Json one = first("reply");
  const Json last = second("reply", one);
  const Json other = second("reply", first("reply"));
  EXPECT_EQ(text_of(call(last)), "effect 1");
  EXPECT_EQ(text_of(call(other)), "effect 2");
  const std::vector<std::string*> kept = store_->replies();
  ASSERT_EQ(kept.size(), 4u);  // of two flows, with two rounds each
  const std::vector<std::string> before{*kept[0], *kept[1], *kept[2], *kept[3]};
  for (const std::string& text : before) {
    EXPECT_TRUE(text.starts_with("sg1.")) << text;
    EXPECT_EQ(text.find('"'), std::string::npos) << text;
  }
  EXPECT_EQ(events_, "");
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (const std::string& text :
         {before[(i + 1) % kept.size()], std::string(R"({"result":{"content":[]}})"), std::string(),
          *one.find_string("requestState"), before[i].substr(1), before[i] + "A"}) {
      *kept[i] = text;
      events_.clear();
      int repeated = 0;
      for (const Json& params : {one, last, other}) {
        const Reply reply = call(params);
        repeated += reply.ok() ? 1 : 0;
        EXPECT_TRUE(reply.ok() || refused(reply)) << show(reply);
      }
      // The fourth reply is that of the other flow's first round, which is not asked for here.
      EXPECT_EQ(repeated == 2, events_ == "kept_reply_not_opened state_refused ") << events_;
      EXPECT_EQ(repeated == 3, events_.empty()) << events_;
    }
    *kept[i] = before[i];
  }
  EXPECT_EQ(text_of(call(last)), "effect 1");
  EXPECT_EQ(effects_, 2);
}

TEST(KeptReply, IsForTheSameRequestOfTheSameCallerAlone) {
  token::Binding binding;
  binding.method = "tools/call";
  binding.target = "pay";
  binding.audience = "shop";
  binding.principal = Principal::authenticated("alice");
  const Json::Object answers = *parsed(R"({"sure":{"action":"accept"}})").as_object();
  const Digest digest = detail::digest_of_retry(binding, answers);
  EXPECT_EQ(detail::digest_of_retry(binding, answers), digest);
  EXPECT_NE(detail::digest_of_retry(binding, Json::Object()), digest);
  const auto differs = [&](auto change) {
    token::Binding other = binding;
    change(other);
    return detail::digest_of_retry(other, answers) != digest;
  };
  EXPECT_TRUE(differs([](token::Binding& other) { other.method = "prompts/get"; }));
  EXPECT_TRUE(differs([](token::Binding& other) { other.target = "refund"; }));
  EXPECT_TRUE(differs([](token::Binding& other) { other.audience = "bank"; }));
  EXPECT_TRUE(differs([](token::Binding& other) { other.arguments[31] ^= 1; }));
  EXPECT_TRUE(differs([](token::Binding& other) { other.principal = Principal::authenticated("bob"); }));
  EXPECT_TRUE(differs([](token::Binding& other) { other.principal.kind = Principal::Kind::anonymous; }));
}

TEST(KeptReply, ComesBackAsItWasWhateverItIs) {
  token::Claim claim;
  claim.token[3] = 7;
  claim.answers[5] = 9;
  for (const Reply& reply :
       {Reply(parsed(R"({"content":[{"type":"text","text":"\u0000\n\""}]})")), Reply(Json::object()),
        Reply(failure(Fault(-32602, "no", parsed(R"({"a":[1]})")))), Reply(failure(Fault(-1, "")))}) {
    const Bytes bytes = detail::encode_reply(claim, reply);
    const std::optional<Reply> again = detail::decode_reply(claim, bytes);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(show(*again), show(reply));
    token::Claim other = claim;
    other.token[0] = 1;
    EXPECT_FALSE(detail::decode_reply(other, bytes).has_value());
    other = claim;
    other.answers[0] = 1;
    EXPECT_FALSE(detail::decode_reply(other, bytes).has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(detail::decode_reply(claim, ByteView(bytes).first(size)).has_value()) << size;
  }
}

TEST_F(RedemptionTest, TheCallThatMakesAKeptReplyIsToRunToItsEnd) {
  for (const auto& [redemption, kept] :
       {std::pair(Redemption::many, false), std::pair(Redemption::once, false),
        std::pair(Redemption::once_with_reply, true)}) {
    OneShot<int> event;
    const std::string name = "waits" + std::to_string(static_cast<int>(redemption));
    server_.tool(
        name, "Acts late.", [this, event](Call& call) { return act_late(call, &effects_, event); },
        ToolOptions().redemption(redemption));
    ManualExecutor executor;
    Exchanged asking(server_, executor, Request(1, "tools/call", modern(call_params(name))));
    EXPECT_FALSE(asking.exchange.runs_to_end);
    const Json answered = retry(call_params(name), *asking.reply, sure_);
    Exchanged serving(server_, executor, Request(2, "tools/call", modern(answered)));
    ASSERT_FALSE(serving.reply.has_value());
    EXPECT_EQ(serving.exchange.runs_to_end, kept);
    if (kept) {
      Exchanged again(server_, executor, Request(3, "tools/call", modern(answered)));
      EXPECT_FALSE(again.exchange.runs_to_end) << "who waits for the reply of another may go";
    }
    executor.post([event] { event.set(1); });
    executor.run();
    ASSERT_TRUE(serving.reply.has_value());
    EXPECT_FALSE(serving.exchange.runs_to_end);
    executor.advance(std::chrono::seconds(1));
  }
}

}  // namespace
}  // namespace signet
