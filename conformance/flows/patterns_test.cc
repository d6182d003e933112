// The patterns of examples/, driven through Service as a transport would, and left at each of their questions.
#include <patterns/patterns.h>

#include <signet/server/test_support.h>

#include <gtest/gtest.h>

namespace {

using signet::Json;
using signet::Reply;
using signet::testing::at;
using signet::testing::call_params;
using signet::testing::modern;
using signet::testing::parsed;
using signet::testing::text_of;

class Patterns : public ::testing::Test {
 public:
  Patterns() {
    patterns::add_wizard(server_);
    patterns::add_confirm_destructive(server_);
    patterns::add_pick_from_list(server_);
    patterns::add_login_by_url(server_);
  }

  // A call, and its further rounds.
  Patterns& call(std::string_view tool, std::string_view arguments = "{}",
                 const Json& capabilities = signet::testing::all_capabilities()) {
    params_ = call_params(tool, arguments);
    capabilities_ = capabilities;
    return send(params_);
  }
  Patterns& answer(std::string_view responses) {
    Json again = params_;
    again.set("requestState", at(reply_, {"requestState"}));
    again.set("inputResponses", parsed(responses));
    return send(again);
  }
  bool asks(std::string_view key) const {
    return at(reply_, {"inputRequests"}).contains(key) && signet::detail::frames_alive() == frames_;
  }
  std::string text() const { return text_of(reply_); }
  bool is_error() const { return at(reply_, {"isError"}) == Json(true); }

  Reply reply_ = Json();

 private:
  Patterns& send(const Json& params) {
    reply_ = signet::testing::ask(server_, "tools/call", modern(params, capabilities_));
    return *this;
  }

  long frames_ = signet::detail::frames_alive();
  signet::Server server_{signet::ServerInfo("patterns", "1.0")};
  Json params_;
  Json capabilities_;
};

constexpr std::string_view oslo =
    R"({"trip":{"action":"accept","content":{"destination":"Oslo","nights":3}}})";
constexpr std::string_view rome =
    R"({"trip":{"action":"accept","content":{"destination":"Rome","nights":9}}})";
constexpr std::string_view ada =
    R"({"traveller":{"action":"accept","content":{"name":"Ada","email":"ada@example.com"}}})";

TEST_F(Patterns, TheWizardAsksFormAfterForm) {
  EXPECT_TRUE(call("book_trip").asks("trip"));
  EXPECT_TRUE(answer(oslo).asks("traveller"));
  EXPECT_EQ(at(reply_, {"inputRequests", "traveller", "params", "message"}), Json("Who travels to Oslo?"));
  EXPECT_EQ(answer(ada).text(), "Booked a room in Oslo for Ada, 3 nights.");
}

TEST_F(Patterns, TheWizardAsksWhatMattersOnlyWhereItMatters) {
  EXPECT_TRUE(call("book_trip").answer(rome).answer(ada).asks("kitchen"));
  EXPECT_EQ(answer(R"({"kitchen":{"action":"accept","content":{"kitchen":true}}})").text(),
            "Booked a flat in Rome for Ada, 9 nights.");
}

TEST_F(Patterns, TheWizardMayBeLeftAtEachQuestion) {
  EXPECT_EQ(call("book_trip").answer(R"({"trip":{"action":"decline"}})").text(), "Nothing was booked.");
  EXPECT_EQ(call("book_trip").answer(oslo).answer(R"({"traveller":{"action":"cancel"}})").text(),
            "Nothing was booked.");
}

TEST_F(Patterns, NothingIsDestroyedUnlessItsNameIsTyped) {
  constexpr std::string_view apollo = R"({"name":"apollo"})";
  constexpr std::string_view yes = R"({"confirm":{"action":"accept","content":{"name":"apollo"}}})";
  EXPECT_TRUE(call("delete_project", apollo).asks("confirm"));
  EXPECT_EQ(answer(yes).text(), "Deleted apollo.");
  EXPECT_EQ(call("delete_project", R"({"name":"gemini"})").answer(yes).text(),
            "That is another name. Nothing was deleted.");
  EXPECT_EQ(call("delete_project", apollo).answer(R"({"confirm":{"action":"decline"}})").text(),
            "Nothing was deleted.");
  EXPECT_TRUE(call("delete_project", apollo, parsed("{}")).is_error());
}

TEST_F(Patterns, TheChoiceIsAmongWhatWasOffered) {
  EXPECT_TRUE(call("reserve_room", R"({"people":6})").asks("room"));
  EXPECT_TRUE(answer(R"({"room":{"action":"accept","content":{"room":"r1"}}})").asks("room"));
  EXPECT_EQ(answer(R"({"room":{"action":"accept","content":{"room":"r3"}}})").text(), "Reserved r3.");
  EXPECT_EQ(call("reserve_room", R"({"people":2})").answer(R"({"room":{"action":"cancel"}})").text(),
            "No room was reserved.");
}

TEST_F(Patterns, OpeningThePageIsNotLoggingIn) {
  constexpr std::string_view opened = R"({"login1":{"action":"accept"}})";
  EXPECT_TRUE(call("connect_account").asks("login1"));
  EXPECT_TRUE(answer(opened).asks("login2"));
  EXPECT_TRUE(answer(R"({"login2":{"action":"accept"}})").asks("login3"));
  EXPECT_TRUE(answer(R"({"login3":{"action":"accept"}})").is_error());

  EXPECT_TRUE(call("connect_account").asks("login1"));
  const Reply asked = reply_;
  const std::string url = *at(asked, {"inputRequests", "login1", "params", "url"}).as_string();
  const std::string flow = url.substr(url.find("flow=") + 5);
  EXPECT_EQ(call("pretend_login", R"({"flow":")" + flow + R"("})").text(), "Logged in.");
  call("connect_account");
  reply_ = asked;
  EXPECT_EQ(answer(opened).text(), "Connected.");
  EXPECT_TRUE(call("connect_account", "{}", parsed(R"({"elicitation":{"form":{}}})")).is_error());
}

}  // namespace
