#include <signet/token/base64url.h>

#include <gtest/gtest.h>

#include <random>
#include <set>

#include <signet/token/testing.h>

namespace signet::token {
namespace {

using testing::SeededEntropy;

Bytes random_bytes(Entropy& entropy, std::size_t size) {
  Bytes bytes(size);
  entropy.fill(bytes);
  return bytes;
}

TEST(Base64url, WritesTheExamplesOfRfc4648WithoutPadding) {
  EXPECT_EQ(encode_base64url(as_bytes("")), "");
  EXPECT_EQ(encode_base64url(as_bytes("f")), "Zg");
  EXPECT_EQ(encode_base64url(as_bytes("fo")), "Zm8");
  EXPECT_EQ(encode_base64url(as_bytes("foo")), "Zm9v");
  EXPECT_EQ(encode_base64url(as_bytes("foob")), "Zm9vYg");
  EXPECT_EQ(encode_base64url(as_bytes("fooba")), "Zm9vYmE");
  EXPECT_EQ(encode_base64url(as_bytes("foobar")), "Zm9vYmFy");
  EXPECT_EQ(encode_base64url(Bytes{0xfb, 0xff, 0xbf}), "-_-_");
}

TEST(Base64url, ReadsBackWhatItWroteAtEverySize) {
  SeededEntropy entropy(1);
  for (std::size_t size = 0; size < 300; ++size) {
    const Bytes bytes = random_bytes(entropy, size);
    const std::string text = encode_base64url(bytes);
    EXPECT_EQ(text.size(), base64url_size(size));
    EXPECT_EQ(base64url_decoded_size(text.size()), size);
    EXPECT_EQ(decode_base64url(text), bytes);
  }
}

TEST(Base64url, EncodesBytesThatAreTheTailOfTheTextItself) {
  SeededEntropy entropy(2);
  for (std::size_t size = 0; size < 300; ++size) {
    const Bytes bytes = random_bytes(entropy, size);
    std::string text(base64url_size(size), '\0');
    std::copy(bytes.begin(), bytes.end(), text.end() - static_cast<std::ptrdiff_t>(size));
    encode_base64url(as_bytes(text).last(size), text.data());
    EXPECT_EQ(text, encode_base64url(bytes));
  }
}

TEST(Base64url, RefusesEveryByteThatIsNotInTheAlphabetAtEveryPosition) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const std::string good(96, 'A');
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = good;
      text[at] = static_cast<char>(byte);
      const bool known = alphabet.find(static_cast<char>(byte)) != std::string::npos;
      EXPECT_EQ(decode_base64url(text).has_value(), known) << "byte " << byte << " at " << at;
    }
  }
}

TEST(Base64url, RefusesPaddingWhiteSpaceAndImpossibleSizes) {
  for (const char* text : {"Zg==", "Zm8=", "Zm9v\n", " Zm9v", "Zm 9v", "Z", "Zm9vY", "+/+/"}) {
    EXPECT_FALSE(decode_base64url(text)) << text;
  }
}

TEST(Base64url, RefusesUnusedBitsThatAreNotZero) {
  EXPECT_TRUE(decode_base64url("Zg"));
  for (const char* text : {"Zh", "Zi", "Zo", "Zv", "Zm9", "Zm-"})
    EXPECT_FALSE(decode_base64url(text)) << text;
}

TEST(Base64url, OneByteStringHasExactlyOneSpelling) {
  std::set<Bytes> values;
  std::size_t read = 0;
  for (int size = 1; size <= 3; ++size) {
    for (int n = 0; n < 1 << 8 * (size - 1); ++n) {
      // The first character is one of a few of the alphabet; the others run over all bytes.
      for (const char first : {'A', 'Z', 'a', 'z', '0', '9', '-', '_'}) {
        std::string text(1, first);
        for (int i = 1; i < size; ++i) text.push_back(static_cast<char>(n >> (8 * (i - 1))));
        const std::optional<Bytes> bytes = decode_base64url(text);
        if (!bytes) continue;
        ++read;
        values.insert(*bytes);
        EXPECT_EQ(encode_base64url(*bytes), text);
      }
    }
  }
  EXPECT_EQ(read, values.size());
  EXPECT_EQ(read, 8u * 4 + 8u * 64 * 16);
}

TEST(Base64url, TheWideImplementationAgreesWithTheScalarOneOnMutations) {
  SeededEntropy entropy(3);
  std::mt19937_64 random(4);
  for (int i = 0; i < 50'000; ++i) {
    const Bytes bytes = random_bytes(entropy, random() % 200);
    std::string scalar(base64url_size(bytes.size()), '\0');
    std::string wide = scalar;
    detail::encode_base64url_scalar(bytes, scalar.data());
    detail::encode_base64url_wide(bytes, wide.data());
    ASSERT_EQ(scalar, wide);

    for (std::uint64_t changes = random() % 3; changes > 0 && !wide.empty(); --changes) {
      wide[random() % wide.size()] = static_cast<char>(random());
    }
    Bytes by_scalar(bytes.size());
    Bytes by_wide(bytes.size());
    const bool scalar_read = detail::decode_base64url_scalar(wide, by_scalar.data());
    const bool wide_read = detail::decode_base64url_wide(wide, by_wide.data());
    ASSERT_EQ(scalar_read, wide_read);
    ASSERT_TRUE(!scalar_read || by_scalar == by_wide);
  }
}

}  // namespace
}  // namespace signet::token
