#include <signet/cli/web_address.h>

#include <gtest/gtest.h>

namespace signet::cli {
namespace {

std::string host_of(std::string_view text) {
  const Result<WebAddress> address = read_web_address(text);
  return address ? address->host : "refused: " + address.error().message;
}

bool refused(std::string_view text) { return !read_web_address(text).ok(); }

TEST(WebAddress, AnOrdinaryAddressIsShownAsItIs) {
  const Result<WebAddress> address = read_web_address("https://Login.Example:8443/x?y=1#z");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "login.example:8443");
  EXPECT_EQ(address->text, "https://login.example:8443/x?y=1#z");
  EXPECT_TRUE(address->warnings.empty());
  EXPECT_EQ(host_of("https://[2001:DB8::1]/"), "[2001:db8::1]");
  EXPECT_EQ(host_of("https://192.0.2.7/"), "192.0.2.7");
  EXPECT_EQ(host_of("HTTPS://a.example"), "a.example");
}

// RFC 3492, section 7.1, and names in common use.
TEST(WebAddress, LettersOutsideAsciiHaveTheirAsciiForm) {
  EXPECT_EQ(ascii_label("b\xc3\xbc"
                        "cher"),
            "xn--bcher-kva");
  EXPECT_EQ(ascii_label("\xe4\xbe\x8b\xe3\x81\x88"), "xn--r8jz45g");
  EXPECT_EQ(ascii_label("\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88"), "xn--zckzah");
  EXPECT_EQ(ascii_label("\xe4\xbb\x96\xe4\xbb\xac\xe4\xb8\xba\xe4\xbb\x80\xe4\xb9\x88\xe4\xb8\x8d\xe8\xaf\xb4"
                        "\xe4\xb8\xad\xe6\x96\x87"),
            "xn--ihqwcrb4cv8a8dqg056pqjye");
  EXPECT_EQ(ascii_label("3\xe5\xb9\xb4"
                        "B\xe7\xb5\x84\xe9\x87\x91\xe5\x85\xab\xe5\x85\x88\xe7\x94\x9f"),
            "xn--3b-ww4c5e180e575a65lsy2b");
  EXPECT_EQ(ascii_label("PLAIN"), "plain");
  EXPECT_FALSE(ascii_label("\xff").has_value());
}

TEST(WebAddress, AHostThatLooksLikeAnotherIsShownByItsAsciiFormAndFlagged) {
  // Cyrillic letters that look like "apple".
  const Result<WebAddress> address =
      read_web_address("https://\xd0\xb0\xd1\x80\xd1\x80\xd3\x8f\xd0\xb5.com/\xc3\xa4");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->host, "xn--80ak6aa92e.com");
  EXPECT_EQ(address->text, "https://xn--80ak6aa92e.com/%C3%A4");
  ASSERT_EQ(address->warnings.size(), 1U);
  EXPECT_NE(address->warnings[0].find("letters outside ASCII"), std::string::npos);
  EXPECT_EQ(read_web_address("https://xn--80ak6aa92e.com/")->warnings.size(), 1U);
}

TEST(WebAddress, WhatIsNoWebAddressIsRefused) {
  for (const char* text : {"javascript:alert(1)", "file:///etc/passwd", "ssh://host/", "vscode://x", "",
                           "https:", "https:x.example", "https:///x", "https://", "//x.example/",
                           " https://x.example/", "-https://x.example/"}) {
    EXPECT_TRUE(refused(text)) << text;
  }
}

TEST(WebAddress, AUserNameInFrontOfTheHostIsNamedAndRefused) {
  const std::string said = host_of("https://good.example@evil.example/login");
  EXPECT_NE(said.find("\"good.example\" in front of the @ is a user name"), std::string::npos) << said;
  EXPECT_NE(said.find("evil.example"), std::string::npos) << said;
  EXPECT_TRUE(refused("https://a:b@evil.example/"));
  EXPECT_EQ(host_of("https://good.example/x@evil.example"), "good.example");
}

TEST(WebAddress, HostsInDisguiseAreRefused) {
  for (const char* text :
       {"https://%67ood.example/", "https://good.example\\@evil.example/",
        "https://good.example\t.evil.example/", "https://2130706433/", "https://0x7f.1/", "https://127.1/",
        "https://0177.0.0.1/", "https://a.example:99999999/", "https://a.example:8x/", "https://[::1",
        "https://[good.example]/", "https://good.example\x01/", "https://\xff.example/",
        "https://good.example\xe2\x80\xae/", "https://good.example\n.evil.example/"}) {
    EXPECT_TRUE(refused(text)) << text;
  }
}

TEST(WebAddress, UnencryptedAndLocalAddressesAreFlagged) {
  EXPECT_EQ(read_web_address("http://a.example/")->warnings.at(0), "This address is not encrypted.");
  EXPECT_EQ(read_web_address("http://localhost:8080/")->warnings.at(0),
            "This address is on your own machine.");
  EXPECT_EQ(read_web_address("https://127.0.0.1/")->warnings.at(0), "This address is on your own machine.");
  EXPECT_EQ(read_web_address("http://127.evil.example/")->warnings,
            std::vector<std::string>{"This address is not encrypted."});
}

}  // namespace
}  // namespace signet::cli
