#include <signet/token/base64url.h>

#include <array>
#include <cassert>

#include <signet/base/base64_digits.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace signet::token {
namespace {

constexpr std::string_view alphabet = signet::detail::base64url_alphabet;
constexpr std::uint8_t no_digit = signet::detail::no_base64_digit;
constexpr std::array<std::uint8_t, 256> digits = signet::detail::base64_digits(alphabet);

std::uint32_t digit(char c) { return digits[static_cast<unsigned char>(c)]; }

}  // namespace

namespace detail {

void encode_base64url_scalar(ByteView bytes, char* out) {
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t group =
        std::uint32_t{bytes[i]} << 16 | std::uint32_t{bytes[i + 1]} << 8 | bytes[i + 2];
    *out++ = alphabet[group >> 18];
    *out++ = alphabet[group >> 12 & 63];
    *out++ = alphabet[group >> 6 & 63];
    *out++ = alphabet[group & 63];
  }
  const std::size_t left = bytes.size() - i;
  if (left == 0) return;
  const std::uint32_t second = left == 2 ? bytes[i + 1] : 0u;
  const std::uint32_t group = std::uint32_t{bytes[i]} << 16 | second << 8;
  *out++ = alphabet[group >> 18];
  *out++ = alphabet[group >> 12 & 63];
  if (left == 2) *out++ = alphabet[group >> 6 & 63];
}

bool decode_base64url_scalar(std::string_view text, std::uint8_t* out) {
  std::size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) {
    const std::uint32_t a = digit(text[i]);
    const std::uint32_t b = digit(text[i + 1]);
    const std::uint32_t c = digit(text[i + 2]);
    const std::uint32_t d = digit(text[i + 3]);
    if ((a | b | c | d) == no_digit) return false;
    const std::uint32_t group = a << 18 | b << 12 | c << 6 | d;
    *out++ = static_cast<std::uint8_t>(group >> 16);
    *out++ = static_cast<std::uint8_t>(group >> 8);
    *out++ = static_cast<std::uint8_t>(group);
  }
  const std::size_t left = text.size() - i;
  if (left == 0) return true;
  if (left == 1) return false;
  const std::uint32_t a = digit(text[i]);
  const std::uint32_t b = digit(text[i + 1]);
  const std::uint32_t c = left == 3 ? digit(text[i + 2]) : 0;
  if ((a | b | c) == no_digit) return false;
  const std::uint32_t group = a << 18 | b << 12 | c << 6;
  *out++ = static_cast<std::uint8_t>(group >> 16);
  if (left == 3) *out++ = static_cast<std::uint8_t>(group >> 8);
  // What the last character says beyond the last byte must be nothing, or two texts would mean the same bytes.
  return (left == 3 ? group & 0xff : group & 0xffff) == 0;
}

#if defined(__x86_64__)

namespace {

// 24 bytes to 32 characters a step; returns how many bytes were taken.
__attribute__((target("avx2"))) std::size_t encode_avx2(ByteView bytes, char* out) {
  const __m256i spread = _mm256_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10,  //
                                          1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
  // What to add to a digit, by its range: a-z, 0-9 (ten times), -, _, A-Z.
  const __m256i offsets =
      _mm256_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                       '0' - 52, '0' - 52, '0' - 52, '-' - 62, '_' - 63, 'A', 0, 0,  //
                       'a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                       '0' - 52, '0' - 52, '0' - 52, '-' - 62, '_' - 63, 'A', 0, 0);
  std::size_t i = 0;
  for (; i + 28 <= bytes.size(); i += 24, out += 32) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + i));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + i + 12));
    const __m256i groups = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), spread);
    const __m256i first_third = _mm256_mulhi_epu16(_mm256_and_si256(groups, _mm256_set1_epi32(0x0fc0fc00)),
                                                   _mm256_set1_epi32(0x04000040));
    const __m256i second_fourth = _mm256_mullo_epi16(_mm256_and_si256(groups, _mm256_set1_epi32(0x003f03f0)),
                                                     _mm256_set1_epi32(0x01000010));
    const __m256i values = _mm256_or_si256(first_third, second_fourth);
    // 0 for a-z and A-Z, 1 to 12 for the others; then A-Z becomes 13.
    __m256i range = _mm256_subs_epu8(values, _mm256_set1_epi8(51));
    const __m256i upper = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), values);
    range = _mm256_or_si256(range, _mm256_and_si256(upper, _mm256_set1_epi8(13)));
    const __m256i text = _mm256_add_epi8(values, _mm256_shuffle_epi8(offsets, range));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), text);
  }
  return i;
}

// 32 characters to 24 bytes a step; returns how many characters were taken, or nothing where one is none of the
// alphabet.
__attribute__((target("avx2"))) std::optional<std::size_t> decode_avx2(std::string_view characters,
                                                                       std::uint8_t* out) {
  // A character is known where no bit of its upper half's class is among the classes its lower half forbids. Classes: 1 is
  // 2_ (only -), 2 is 3_ (digits), 4 is 4_ and 6_ (letters), 8 is 5_ (letters and _), 16 is 7_ (letters), 32 is the rest.
  const __m256i class_of_upper =
      _mm256_setr_epi8(32, 32, 1, 2, 4, 8, 4, 16, 32, 32, 32, 32, 32, 32, 32, 32,  //
                       32, 32, 1, 2, 4, 8, 4, 16, 32, 32, 32, 32, 32, 32, 32, 32);
  const __m256i forbidden_by_lower =
      _mm256_setr_epi8(37, 33, 33, 33, 33, 33, 33, 33, 33, 33, 35, 59, 59, 58, 59, 51,  //
                       37, 33, 33, 33, 33, 33, 33, 33, 33, 33, 35, 59, 59, 58, 59, 51);
  const __m256i delta_of_upper =
      _mm256_setr_epi8(0, 0, 62 - '-', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0,  //
                       0, 0, 62 - '-', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i gather = _mm256_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1,  //
                                          2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
  const __m256i low_half = _mm256_set1_epi8(0x0f);
  const __m256i underscore = _mm256_set1_epi8('_');
  const __m256i underscore_delta = _mm256_set1_epi8(63 - '_' + 'A');
  __m256i wrong = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 32 <= characters.size(); i += 32, out += 24) {
    const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(characters.data() + i));
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi32(text, 4), low_half);
    const __m256i lower = _mm256_and_si256(text, low_half);
    const __m256i classes = _mm256_shuffle_epi8(class_of_upper, upper);
    const __m256i forbidden = _mm256_shuffle_epi8(forbidden_by_lower, lower);
    wrong = _mm256_or_si256(wrong, _mm256_and_si256(classes, forbidden));

    const __m256i is_underscore = _mm256_cmpeq_epi8(text, underscore);
    __m256i values = _mm256_add_epi8(text, _mm256_shuffle_epi8(delta_of_upper, upper));
    values = _mm256_add_epi8(values, _mm256_and_si256(is_underscore, underscore_delta));
    const __m256i pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
    const __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
    const __m256i lanes = _mm256_shuffle_epi8(groups, gather);
    const __m256i packed = _mm256_permutevar8x32_epi32(lanes, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(packed));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(packed, 1));
  }
  if (!_mm256_testz_si256(wrong, wrong)) return std::nullopt;
  return i;
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

}  // namespace

void encode_base64url_wide(ByteView bytes, char* out) {
  const std::size_t taken = has_avx2() ? encode_avx2(bytes, out) : 0;
  encode_base64url_scalar(bytes.subspan(taken), out + taken / 3 * 4);
}

bool decode_base64url_wide(std::string_view text, std::uint8_t* out) {
  const std::optional<std::size_t> taken = has_avx2() ? decode_avx2(text, out) : 0;
  return taken && decode_base64url_scalar(text.substr(*taken), out + *taken / 4 * 3);
}

#else

void encode_base64url_wide(ByteView bytes, char* out) { encode_base64url_scalar(bytes, out); }
bool decode_base64url_wide(std::string_view text, std::uint8_t* out) {
  return decode_base64url_scalar(text, out);
}

#endif

}  // namespace detail

void encode_base64url(ByteView bytes, char* out) { detail::encode_base64url_wide(bytes, out); }

std::string encode_base64url(ByteView bytes) {
  std::string text(base64url_size(bytes.size()), '\0');
  encode_base64url(bytes, text.data());
  return text;
}

bool decode_base64url(std::string_view text, std::span<std::uint8_t> out) {
  assert(base64url_decoded_size(text.size()) == out.size());
  return detail::decode_base64url_wide(text, out.data());
}

std::optional<Bytes> decode_base64url(std::string_view text) {
  const std::optional<std::size_t> size = base64url_decoded_size(text.size());
  if (!size) return std::nullopt;
  Bytes bytes(*size);
  if (!decode_base64url(text, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace signet::token
