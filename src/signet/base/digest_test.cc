#include <signet/base/digest.h>
#include <signet/base/source_dir_for_tests.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace signet {
namespace {

Bytes unhex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Bytes derive(ByteView input_key, ByteView salt, ByteView info, std::size_t size) {
  Bytes out(size);
  hkdf_sha256(input_key, salt, info, out);
  return out;
}

// The members of each test of a Wycheproof file. Those files hold one member a line, so no JSON reader is
// needed below the room that has one.
using Case = std::map<std::string, std::string>;
std::vector<Case> wycheproof_cases(const std::string& name) {
  const char* configured = std::getenv("SIGNET_PRIMITIVES");
  const std::string folder =
      configured ? configured : signet::testing::source_dir() + "/../shared/primitives";
  std::ifstream file(folder + "/" + name);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    const std::size_t name_begin = line.find('"');
    const std::size_t name_end = line.find("\": ");
    if (name_begin == std::string::npos || name_end == std::string::npos) continue;
    const std::string member = line.substr(name_begin + 1, name_end - name_begin - 1);
    std::string value = line.substr(name_end + 3);
    while (!value.empty() && (value.back() == ',' || value.back() == '"')) value.pop_back();
    if (!value.empty() && value.front() == '"') value.erase(0, 1);
    if (member == "tcId") cases.emplace_back();
    if (!cases.empty()) cases.back()[member] = value;
  }
  return cases;
}

#define SKIP_IF_EMPTY(cases) \
  if (cases.empty()) GTEST_SKIP() << "no Wycheproof files: set SIGNET_PRIMITIVES to their folder"

TEST(Digest, Sha256OfTheExamplesOfFips180) {
  EXPECT_EQ(hex(sha256(as_bytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256(ByteView())), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(as_bytes(std::string(1'000'000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, PartsAreHashedAsOneMessage) {
  EXPECT_EQ(sha256({as_bytes("a"), ByteView(), as_bytes("bc")}), sha256(as_bytes("abc")));
  const Bytes key(20, 0x0b);
  EXPECT_EQ(hmac_sha256(key, {as_bytes("Hi "), as_bytes("There")}), hmac_sha256(key, {as_bytes("Hi There")}));
}

TEST(Digest, HmacOfTheExamplesOfRfc4231) {
  EXPECT_EQ(hex(hmac_sha256(Bytes(20, 0x0b), {as_bytes("Hi There")})),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256(as_bytes("Jefe"), {as_bytes("what do ya want for nothing?")})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac_sha256(Bytes(131, 0xaa),
                            {as_bytes("Test Using Larger Than Block-Size Key - Hash Key First")})),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, HkdfOfTheExamplesOfRfc5869) {
  EXPECT_EQ(
      hex(derive(Bytes(22, 0x0b), unhex("000102030405060708090a0b0c"), unhex("f0f1f2f3f4f5f6f7f8f9"), 42)),
      "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(hex(derive(Bytes(22, 0x0b), ByteView(), ByteView(), 42)),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(Digest, HmacOfWycheproof) {
  const std::vector<Case> cases = wycheproof_cases("wycheproof_hmac_sha256_test.json");
  SKIP_IF_EMPTY(cases);
  for (const Case& test : cases) {
    const Digest digest = hmac_sha256(unhex(test.at("key")), {unhex(test.at("msg"))});
    const std::string expected = test.at("tag");  // some are truncated
    const bool same = hex(digest).substr(0, expected.size()) == expected;
    EXPECT_EQ(same, test.at("result") == "valid") << "tcId " << test.at("tcId");
  }
  EXPECT_EQ(cases.size(), 174u);
}

TEST(Digest, HkdfOfWycheproof) {
  const std::vector<Case> cases = wycheproof_cases("wycheproof_hkdf_sha256_test.json");
  SKIP_IF_EMPTY(cases);
  for (const Case& test : cases) {
    if (test.at("result") == "invalid") continue;  // larger than HKDF can give: a precondition here
    const Bytes okm = derive(unhex(test.at("ikm")), unhex(test.at("salt")), unhex(test.at("info")),
                             std::stoul(test.at("size")));
    EXPECT_EQ(hex(okm), test.at("okm")) << "tcId " << test.at("tcId");
  }
  EXPECT_EQ(cases.size(), 86u);
}

TEST(Digest, ThreadsDoNotDisturbEachOther) {
  const Digest expected = sha256(as_bytes(std::string(1000, 'x')));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int& count : wrong) {
    threads.emplace_back([&count, &expected] {
      for (int i = 0; i < 2000; ++i) count += sha256(as_bytes(std::string(1000, 'x'))) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace signet
