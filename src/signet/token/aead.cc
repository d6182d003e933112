#include <signet/token/aead.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <signet/base/secret.h>

namespace signet::token {
namespace {

constexpr std::size_t block_bytes = 16;

// A cipher that fails to encrypt means a libcrypto that cannot work: nothing safe can follow.
void require(bool done) {
  if (!done) std::abort();
}

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

// Fetched by name once per process and kept: the fetch costs as much as sealing.
EVP_CIPHER* gcm() {
  static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return cipher;
}
EVP_CIPHER* ecb() {
  static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-ECB", nullptr);
  return cipher;
}

Context make_context() {
  Context context(EVP_CIPHER_CTX_new());
  require(context != nullptr);
  return context;
}

int int_size(std::size_t size) {
  require(size <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
  return static_cast<int>(size);
}

// Which of a key's slots this thread looks into.
std::size_t thread_number() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

struct Aes256Gcm::Contexts {
  Context seal = make_context();
  Context open = make_context();
};

Aes256Gcm::Aes256Gcm() : contexts_(std::make_unique<Contexts>()) {
  require(EVP_EncryptInit_ex2(contexts_->seal.get(), gcm(), nullptr, nullptr, nullptr) == 1);
  require(EVP_DecryptInit_ex2(contexts_->open.get(), gcm(), nullptr, nullptr, nullptr) == 1);
}

Aes256Gcm::~Aes256Gcm() = default;

void Aes256Gcm::seal(AeadKeyView key, GcmNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
                     std::span<std::uint8_t, aead_tag_bytes> tag) {
  EVP_CIPHER_CTX* context = contexts_->seal.get();
  int written = 0;
  require(EVP_EncryptInit_ex2(context, nullptr, key.data(), nonce.data(), nullptr) == 1);
  if (!associated.empty()) {
    require(EVP_EncryptUpdate(context, nullptr, &written, associated.data(), int_size(associated.size())) ==
            1);
  }
  if (!text.empty()) {
    require(EVP_EncryptUpdate(context, text.data(), &written, text.data(), int_size(text.size())) == 1);
  }
  std::uint8_t nothing[block_bytes];
  require(EVP_EncryptFinal_ex(context, nothing, &written) == 1);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag.data(), tag.size()),
      OSSL_PARAM_construct_end()};
  require(EVP_CIPHER_CTX_get_params(context, parameters) == 1);
}

bool Aes256Gcm::open(AeadKeyView key, GcmNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
                     AeadTagView tag) {
  EVP_CIPHER_CTX* context = contexts_->open.get();
  AeadTag expected;
  std::copy(tag.begin(), tag.end(), expected.begin());
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, expected.data(), expected.size()),
      OSSL_PARAM_construct_end()};
  int written = 0;
  require(EVP_DecryptInit_ex2(context, nullptr, key.data(), nonce.data(), parameters) == 1);
  if (!associated.empty()) {
    require(EVP_DecryptUpdate(context, nullptr, &written, associated.data(), int_size(associated.size())) ==
            1);
  }
  if (!text.empty()) {
    require(EVP_DecryptUpdate(context, text.data(), &written, text.data(), int_size(text.size())) == 1);
  }
  std::uint8_t nothing[block_bytes];
  if (EVP_DecryptFinal_ex(context, nothing, &written) == 1) return true;
  // What did not authenticate must not be read, not even by mistake.
  wipe(text);
  return false;
}

// Derives the key of one message and runs AES-256-GCM under it.
class XaesKey::Worker {
 public:
  Worker(AeadKeyView key, std::span<const std::uint8_t, block_bytes> subkey) : subkey_(subkey) {
    require(EVP_EncryptInit_ex2(blocks_.get(), ecb(), key.data(), nullptr, nullptr) == 1);
    require(EVP_CIPHER_CTX_set_padding(blocks_.get(), 0) == 1);
  }

  void seal(XaesNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
            std::span<std::uint8_t, aead_tag_bytes> tag) {
    std::array<std::uint8_t, aead_key_bytes> derived = derive(nonce);
    gcm_.seal(derived, nonce.last<gcm_nonce_bytes>(), associated, text, tag);
    wipe(derived);
  }

  bool open(XaesNonceView nonce, ByteView associated, std::span<std::uint8_t> text, AeadTagView tag) {
    std::array<std::uint8_t, aead_key_bytes> derived = derive(nonce);
    const bool authentic = gcm_.open(derived, nonce.last<gcm_nonce_bytes>(), associated, text, tag);
    wipe(derived);
    return authentic;
  }

 private:
  // CMAC over two blocks, as NIST SP 800-108r1 in counter mode: 00 01 'X' 00 nonce[0..12], and the same with 00 02.
  std::array<std::uint8_t, aead_key_bytes> derive(XaesNonceView nonce) {
    std::array<std::uint8_t, aead_key_bytes> blocks;
    for (std::size_t half = 0; half < 2; ++half) {
      const auto block = std::span(blocks).subspan(half * block_bytes, block_bytes);
      block[0] = 0;
      block[1] = static_cast<std::uint8_t>(half + 1);
      block[2] = 'X';
      block[3] = 0;
      std::copy_n(nonce.begin(), gcm_nonce_bytes, block.begin() + 4);
      for (std::size_t i = 0; i < block_bytes; ++i) block[i] ^= subkey_[i];
    }
    int written = 0;
    require(EVP_EncryptUpdate(blocks_.get(), blocks.data(), &written, blocks.data(),
                              int_size(blocks.size())) == 1);
    require(static_cast<std::size_t>(written) == blocks.size());
    return blocks;
  }

  std::span<const std::uint8_t, block_bytes> subkey_;  // of the key, which outlives its workers
  Context blocks_ = make_context();
  Aes256Gcm gcm_;
};

// Takes a worker out of this thread's slot, so that no other thread finds it, and puts it back.
class XaesKey::Lease {
 public:
  explicit Lease(const XaesKey& key) : slot_(key.slots_[thread_number() % slots]) {
    worker_.reset(slot_.worker.exchange(nullptr, std::memory_order_acquire));
    if (!worker_) worker_ = std::make_unique<Worker>(key.key_, key.subkey_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() { delete slot_.worker.exchange(worker_.release(), std::memory_order_acq_rel); }
  Worker* operator->() { return worker_.get(); }

 private:
  Slot& slot_;
  std::unique_ptr<Worker> worker_;
};

XaesKey::XaesKey(AeadKeyView key) {
  std::copy(key.begin(), key.end(), key_.begin());
  const Context blocks = make_context();
  require(EVP_EncryptInit_ex2(blocks.get(), ecb(), key.data(), nullptr, nullptr) == 1);
  require(EVP_CIPHER_CTX_set_padding(blocks.get(), 0) == 1);
  int written = 0;
  require(EVP_EncryptUpdate(blocks.get(), subkey_.data(), &written, subkey_.data(), int_size(block_bytes)) ==
          1);
  // Doubling in GF(2^128), without a branch on the secret bit.
  const auto overflow = static_cast<std::uint8_t>(-(subkey_[0] >> 7) & 0x87);
  for (std::size_t i = 0; i + 1 < block_bytes; ++i) {
    subkey_[i] = static_cast<std::uint8_t>(subkey_[i] << 1 | subkey_[i + 1] >> 7);
  }
  subkey_[block_bytes - 1] = static_cast<std::uint8_t>(subkey_[block_bytes - 1] << 1 ^ overflow);
}

XaesKey::~XaesKey() {
  for (Slot& slot : slots_) delete slot.worker.load();
  wipe(key_);
  wipe(subkey_);
}

void XaesKey::seal(XaesNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
                   std::span<std::uint8_t, aead_tag_bytes> tag) const {
  Lease worker(*this);
  worker->seal(nonce, associated, text, tag);
}

bool XaesKey::open(XaesNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
                   AeadTagView tag) const {
  Lease worker(*this);
  return worker->open(nonce, associated, text, tag);
}

}  // namespace signet::token
