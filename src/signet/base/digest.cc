#include <signet/base/digest.h>

#include <openssl/evp.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <signet/base/secret.h>

namespace signet {
namespace {

constexpr std::size_t digest_bytes = 32;
constexpr std::size_t block_bytes = 64;

// Hashing that fails means a libcrypto that cannot work: nothing safe can follow.
void require(bool done) {
  if (!done) std::abort();
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// One context a thread, initialised with the algorithm once: the fetch by name costs more than hashing a block.
EVP_MD_CTX* thread_context() {
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  require(algorithm != nullptr && context != nullptr);
  if (EVP_MD_CTX_get0_md(context.get()) == nullptr) {
    require(EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1);
  }
  return context.get();
}

// One message. Between construction and `finish` the thread hashes nothing else.
class Hashing {
 public:
  Hashing() : context_(thread_context()) { require(EVP_DigestInit_ex2(context_, nullptr, nullptr) == 1); }
  void add(ByteView data) {
    if (!data.empty()) require(EVP_DigestUpdate(context_, data.data(), data.size()) == 1);
  }
  void add(std::initializer_list<ByteView> parts) {
    for (const ByteView part : parts) add(part);
  }
  Digest finish() {
    Digest digest;
    unsigned int written = 0;
    require(EVP_DigestFinal_ex(context_, digest.data(), &written) == 1 && written == digest.size());
    return digest;
  }

 private:
  EVP_MD_CTX* context_;
};

// The two key blocks of HMAC. Written here over SHA-256 rather than with EVP_MAC, whose context would keep the
// key in the thread's memory until its next use, and costs more to key.
class HmacKey {
 public:
  explicit HmacKey(ByteView key) {
    std::array<std::uint8_t, block_bytes> block{};
    if (key.size() > block_bytes) {
      Digest shortened = sha256(key);
      std::memcpy(block.data(), shortened.data(), shortened.size());
      wipe(shortened);
    } else if (!key.empty()) {
      std::memcpy(block.data(), key.data(), key.size());
    }
    for (std::size_t i = 0; i < block_bytes; ++i) {
      inner_[i] = block[i] ^ 0x36;
      outer_[i] = block[i] ^ 0x5c;
    }
    wipe(block);
  }
  HmacKey(const HmacKey&) = delete;
  HmacKey& operator=(const HmacKey&) = delete;
  ~HmacKey() {
    wipe(inner_);
    wipe(outer_);
  }

  Digest authenticate(std::initializer_list<ByteView> parts) const {
    Hashing inner;
    inner.add(inner_);
    inner.add(parts);
    Digest inner_digest = inner.finish();
    Hashing outer;
    outer.add(outer_);
    outer.add(inner_digest);
    wipe(inner_digest);
    return outer.finish();
  }

 private:
  std::array<std::uint8_t, block_bytes> inner_;
  std::array<std::uint8_t, block_bytes> outer_;
};

}  // namespace

Digest sha256(ByteView data) { return sha256({data}); }

Digest sha256(std::initializer_list<ByteView> parts) {
  Hashing hashing;
  hashing.add(parts);
  return hashing.finish();
}

Digest hmac_sha256(ByteView key, std::initializer_list<ByteView> parts) {
  return HmacKey(key).authenticate(parts);
}

void hkdf_sha256(ByteView input_key, ByteView salt, ByteView info, std::span<std::uint8_t> out) {
  assert(out.size() <= 255 * digest_bytes);
  // HMAC pads its key with zeros, so an empty salt is the RFC's string of zeros.
  Digest extracted = hmac_sha256(salt, {input_key});
  const HmacKey key(extracted);
  wipe(extracted);
  Digest block{};
  ByteView previous;
  std::uint8_t counter = 0;
  while (!out.empty()) {
    ++counter;
    block = key.authenticate({previous, info, ByteView(&counter, 1)});
    previous = block;
    const std::size_t taken = std::min(out.size(), block.size());
    std::memcpy(out.data(), block.data(), taken);
    out = out.subspan(taken);
  }
  wipe(block);
}

}  // namespace signet
