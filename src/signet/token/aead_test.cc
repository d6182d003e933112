#include <signet/token/aead.h>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include <signet/base/source_dir_for_tests.h>
#include <signet/token/testing.h>

namespace signet::token {
namespace {

using testing::SeededEntropy;
using testing::unhex;

template <std::size_t size>
std::span<const std::uint8_t, size> view(const Bytes& bytes) {
  return std::span<const std::uint8_t, size>(bytes.data(), size);
}

// ciphertext ‖ tag
Bytes seal(const XaesKey& key, const Bytes& nonce, ByteView associated, const Bytes& plaintext) {
  Bytes sealed = plaintext;
  AeadTag tag;
  key.seal(view<xaes_nonce_bytes>(nonce), associated, sealed, tag);
  sealed.insert(sealed.end(), tag.begin(), tag.end());
  return sealed;
}

std::optional<Bytes> open(const XaesKey& key, const Bytes& nonce, ByteView associated, const Bytes& sealed) {
  AeadTag tag;
  std::copy(sealed.end() - aead_tag_bytes, sealed.end(), tag.begin());
  Bytes text(sealed.begin(), sealed.end() - aead_tag_bytes);
  if (key.open(view<xaes_nonce_bytes>(nonce), associated, text, tag)) return text;
  EXPECT_EQ(text, Bytes(text.size())) << "what is not authentic must not stay readable";
  return std::nullopt;
}

Bytes of_text(std::string_view text) { return Bytes(text.begin(), text.end()); }

TEST(Xaes, SealsAndOpensTheVectorsOfTheSpecification) {
  const Bytes nonce = of_text("ABCDEFGHIJKLMNOPQRSTUVWX");
  const Bytes plaintext = of_text("XAES-256-GCM");
  const XaesKey ones{view<32>(Bytes(32, 1))};
  EXPECT_EQ(hex(seal(ones, nonce, {}, plaintext)),
            "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271");
  EXPECT_EQ(open(ones, nonce, {}, unhex("ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271")),
            plaintext);

  // The second has a first key block whose top bit is set, so that doubling overflows.
  const XaesKey threes{view<32>(Bytes(32, 3))};
  const Bytes associated = of_text("c2sp.org/XAES-256-GCM");
  const Bytes sealed = unhex("986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d");
  EXPECT_EQ(hex(seal(threes, nonce, associated, plaintext)), hex(sealed));
  EXPECT_EQ(open(threes, nonce, associated, sealed), plaintext);
}

TEST(Xaes, AgreesWithTheAccumulatedVectorOfTenThousandRandomMessages) {
  // Inputs are one SHAKE-128 stream, outputs are hashed by another.
  const std::size_t iterations = 10'000;
  Bytes stream(iterations * (32 + 24 + 2 * 256));
  EVP_MD_CTX* shake = EVP_MD_CTX_new();
  ASSERT_EQ(EVP_DigestInit_ex(shake, EVP_shake128(), nullptr), 1);
  ASSERT_EQ(EVP_DigestFinalXOF(shake, stream.data(), stream.size()), 1);
  std::size_t used = 0;
  const auto next = [&stream, &used](std::size_t size) {
    used += size;
    return Bytes(stream.begin() + static_cast<std::ptrdiff_t>(used - size),
                 stream.begin() + static_cast<std::ptrdiff_t>(used));
  };

  ASSERT_EQ(EVP_DigestInit_ex(shake, EVP_shake128(), nullptr), 1);
  for (std::size_t i = 0; i < iterations; ++i) {
    const Bytes key_bytes = next(32);
    const Bytes nonce = next(24);
    const Bytes plaintext = next(next(1)[0]);
    const Bytes associated = next(next(1)[0]);
    const XaesKey key{view<32>(key_bytes)};
    const Bytes sealed = seal(key, nonce, associated, plaintext);
    ASSERT_EQ(open(key, nonce, associated, sealed), plaintext);
    ASSERT_EQ(EVP_DigestUpdate(shake, sealed.data(), sealed.size()), 1);
  }
  Bytes digest(32);
  ASSERT_EQ(EVP_DigestFinalXOF(shake, digest.data(), digest.size()), 1);
  EVP_MD_CTX_free(shake);
  EXPECT_EQ(hex(digest), "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939");
}

TEST(Xaes, RefusesEveryChangedBitOfKeyNonceAssociatedDataAndCiphertext) {
  SeededEntropy entropy(5);
  Bytes key_bytes(32), nonce(24), associated(9), plaintext(37);
  for (Bytes* bytes : {&key_bytes, &nonce, &associated, &plaintext}) entropy.fill(*bytes);
  const XaesKey key{view<32>(key_bytes)};
  const Bytes sealed = seal(key, nonce, associated, plaintext);
  ASSERT_EQ(open(key, nonce, associated, sealed), plaintext);

  const auto each_flip = [](const Bytes& bytes, const auto& check) {
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      Bytes flipped = bytes;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      EXPECT_FALSE(check(flipped)) << "bit " << bit;
    }
  };
  each_flip(sealed, [&](const Bytes& b) { return open(key, nonce, associated, b); });
  each_flip(nonce, [&](const Bytes& b) { return open(key, b, associated, sealed); });
  each_flip(associated, [&](const Bytes& b) { return open(key, nonce, b, sealed); });
  each_flip(key_bytes, [&](const Bytes& b) { return open(XaesKey(view<32>(b)), nonce, associated, sealed); });
}

TEST(Xaes, ManyThreadsShareOneKey) {
  const XaesKey key{view<32>(Bytes(32, 9))};
  const Bytes nonce(24, 1);
  const Bytes plaintext(500, 7);
  const Bytes expected = seal(key, nonce, {}, plaintext);
  std::vector<std::thread> threads;
  std::vector<int> wrong(12, 0);  // more threads than the key has slots
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) count += seal(key, nonce, {}, plaintext) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(12, 0));
}

TEST(Aes256Gcm, AgreesWithWycheproof) {
  // Those files hold one member a line, so no JSON reader is needed in a room that has none.
  const char* configured = std::getenv("SIGNET_PRIMITIVES");
  const std::string folder =
      configured ? configured : signet::testing::source_dir() + "/../shared/primitives";
  std::ifstream file(folder + "/wycheproof_aes_gcm_test.json");
  if (!file) GTEST_SKIP() << "no Wycheproof files: set SIGNET_PRIMITIVES to their folder";

  Aes256Gcm gcm;
  testing::Block test;
  int tried = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find('"');
    const std::size_t end = line.find("\": \"");
    if (begin == std::string::npos || end == std::string::npos) continue;
    const std::string name = line.substr(begin + 1, end - begin - 1);
    std::string value = line.substr(end + 4);
    value.resize(value.find_last_of('"'));
    test[name] = value;
    if (name != "result") continue;
    const Bytes key = unhex(test["key"]), nonce = unhex(test["iv"]), tag = unhex(test["tag"]);
    if (key.size() != 32 || nonce.size() != 12 || tag.size() != 16) continue;

    Bytes text = unhex(test["ct"]);
    const bool opened = gcm.open(view<32>(key), view<12>(nonce), unhex(test["aad"]), text, view<16>(tag));
    EXPECT_EQ(opened, value == "valid") << test["comment"];
    if (opened) {
      EXPECT_EQ(hex(text), test["msg"]);
      AeadTag sealed_tag;
      gcm.seal(view<32>(key), view<12>(nonce), unhex(test["aad"]), text, sealed_tag);
      EXPECT_EQ(hex(text) + hex(sealed_tag), test["ct"] + test["tag"]);
    }
    ++tried;
  }
  EXPECT_GT(tried, 60);
}

}  // namespace
}  // namespace signet::token
