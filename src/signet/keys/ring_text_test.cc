#include <signet/keys/ring_text.h>

#include <gtest/gtest.h>

#include <string>

namespace signet::keys {
namespace {

using token::KeyEntry;
using token::KeyStage;

// 32 bytes of 0x01.
constexpr std::string_view secret = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE";

std::string ring_with(const std::string& key) { return R"({"version":1,"keys":[)" + key + "]}"; }
std::string key_with(const std::string& members) { return R"({"id":"a","stage":"seal")" + members + "}"; }
std::string good_key() { return key_with(R"(,"secret":")" + std::string(secret) + "\""); }

TEST(RingText, ReadsWhatItWrites) {
  std::vector<KeyEntry> entries;
  const Timestamp now{std::chrono::milliseconds(1'790'000'000'123)};
  entries.push_back(token::generate_key("2026-11", KeyStage::seal, now, system_entropy()));
  entries.push_back(token::generate_key("next_one", KeyStage::accept, now, system_entropy()));
  entries.back().since.reset();
  entries.push_back(token::generate_key("old", KeyStage::retire, now, system_entropy()));
  entries.back().retires_at = now + std::chrono::hours(24);

  const Secret text = write_ring(entries);
  const std::vector<KeyEntry> read = parse_ring(as_text(text.expose())).value();
  ASSERT_EQ(read.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read[i].id, entries[i].id);
    EXPECT_TRUE(equal_in_constant_time(read[i].secret.expose(), entries[i].secret.expose()));
    EXPECT_EQ(read[i].stage, entries[i].stage);
    EXPECT_EQ(read[i].since, entries[i].since);
    EXPECT_EQ(read[i].retires_at, entries[i].retires_at);
  }
}

TEST(RingText, ReadsAKeyAsDocumented) {
  const auto entries =
      parse_ring(R"({"version": 1, "keys": [{"id": "k", "stage": "retire", "secret": ")" +
                 std::string(secret) +
                 R"(", "since": "2026-01-01T00:00:00Z", "retires_at": "2026-01-02T00:00:00Z"}]})")
          .value();
  EXPECT_EQ(entries.at(0).id, "k");
  EXPECT_EQ(hex(entries.at(0).secret.expose()), hex(Bytes(32, 1)));
  EXPECT_EQ(*entries.at(0).retires_at - *entries.at(0).since, std::chrono::hours(24));
}

TEST(RingText, RefusesWhatIsNotARing) {
  ASSERT_TRUE(parse_ring(ring_with(good_key())).ok());
  const std::string with_secret = R"(,"secret":")" + std::string(secret) + "\"";
  for (const std::string& text : {
           std::string(),
           std::string("{"),
           std::string("[]"),
           std::string("null"),
           std::string(R"({"keys":[]})"),
           std::string(R"({"version":2,"keys":[]})"),
           std::string(R"({"version":"1","keys":[]})"),
           std::string(R"({"version":1,"keys":{}})"),
           std::string(R"({"version":1,"keys":[],"more":1})"),
           ring_with("1"),
           ring_with("{}"),
           ring_with(R"({"id":1})"),
           ring_with(R"({"id":"a b"})"),
           ring_with(key_with("")),
           ring_with(key_with(R"(,"secret":1)")),
           ring_with(key_with(R"(,"secret":"")")),
           ring_with(key_with(with_secret + R"(,"note":"x")")),
           ring_with(key_with(with_secret + R"(,"since":1)")),
           ring_with(key_with(with_secret + R"(,"since":"yesterday")")),
           ring_with(key_with(with_secret + R"(,"retires_at":"2026-01-01")")),
           ring_with(R"({"id":"a","stage":"sealing")" + with_secret + "}"),
           ring_with(R"({"id":"a")" + with_secret + "}"),
           // The secret: padded, in the other alphabet, one byte less and more, with unused bits.
           ring_with(key_with(R"(,"secret":")" + std::string(secret) + "=\"")),
           ring_with(key_with(R"(,"secret":")" + std::string(42, '+') + "A\"")),
           ring_with(key_with(R"(,"secret":")" + std::string(42, 'A') + "\"")),
           ring_with(key_with(R"(,"secret":")" + std::string(44, 'A') + "\"")),
           ring_with(key_with(R"(,"secret":")" + std::string(42, 'A') + "B\"")),
       }) {
    EXPECT_FALSE(parse_ring(text).ok()) << text;
  }
}

TEST(RingText, NeverRepeatsASecretInAFault) {
  const std::string broken = ring_with(key_with(R"(,"secret":"AAAAsecretAAAA")"));
  EXPECT_EQ(parse_ring(broken).error().message.find("AAAA"), std::string::npos);
  const std::string twice = ring_with(good_key() + "," + key_with(R"(,"secret":7)"));
  EXPECT_EQ(parse_ring(twice).error().message.find(secret), std::string::npos);
}

}  // namespace
}  // namespace signet::keys
