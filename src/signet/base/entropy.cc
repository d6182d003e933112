#include <signet/base/entropy.h>

#include <openssl/evp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <signet/base/secret.h>

namespace signet {
namespace {

constexpr std::size_t key_bytes = 32;
constexpr std::size_t batch_bytes = 1024;  // larger ones are no faster and let secrets lie longer

void require(bool done) {
  if (!done) std::abort();
}

void fill_from_system(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    require(got > 0);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

// How many forks lie between this process and the one that first drew randomness.
std::atomic<std::uint64_t> forks{0};

// Lives in a page of its own that the kernel hands to a forked child as zeros: `seeded` is then false.
struct Pool {
  bool seeded;
  std::uint64_t forks_at_seeding;
  std::size_t used;
  std::array<std::uint8_t, key_bytes> key;
  std::array<std::uint8_t, batch_bytes> batch;
};

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// Fast key erasure: each batch is the key stream of a key that is replaced by the stream's own first bytes, so
// what was given out cannot be computed from what memory holds afterwards. Every batch mixes in new bytes from
// the system, so that a memory image that runs twice parts ways after one batch.
class ThreadPool {
 public:
  ThreadPool() : context_(EVP_CIPHER_CTX_new()) {
    static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "ChaCha20", nullptr);
    static const int registered = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    require(cipher != nullptr && context_ != nullptr && registered == 0);
    require(EVP_EncryptInit_ex2(context_.get(), cipher, zeros.data(), zeros.data(), nullptr) == 1);
    void* page = ::mmap(nullptr, sizeof(Pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(page != MAP_FAILED);
    pool_ = new (page) Pool{};
    // Where the kernel knows no such page, the count of forks still tells a child from its parent.
    ::madvise(page, sizeof(Pool), MADV_WIPEONFORK);
    ::madvise(page, sizeof(Pool), MADV_DONTDUMP);
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() {
    wipe(pool_->key);
    wipe(pool_->batch);
    ::munmap(pool_, sizeof(Pool));
  }

  void fill(std::span<std::uint8_t> out) {
    while (!out.empty()) {
      const bool stale = !pool_->seeded || pool_->forks_at_seeding != forks.load(std::memory_order_relaxed);
      if (stale || pool_->used == batch_bytes) refill();
      const std::size_t taken = std::min(out.size(), batch_bytes - pool_->used);
      const auto source = std::span(pool_->batch).subspan(pool_->used, taken);
      std::memcpy(out.data(), source.data(), taken);
      wipe(source);
      pool_->used += taken;
      out = out.subspan(taken);
    }
  }

 private:
  void refill() {
    std::array<std::uint8_t, key_bytes> fresh;
    fill_from_system(fresh);
    for (std::size_t i = 0; i < key_bytes; ++i) pool_->key[i] ^= fresh[i];
    wipe(fresh);

    EVP_CIPHER_CTX* context = context_.get();
    require(EVP_EncryptInit_ex2(context, nullptr, pool_->key.data(), zeros.data(), nullptr) == 1);
    pool_->key.fill(0);
    pool_->batch.fill(0);
    encrypt_in_place(pool_->key);
    encrypt_in_place(pool_->batch);
    // The context must not remember the key that was just replaced.
    require(EVP_EncryptInit_ex2(context, nullptr, zeros.data(), zeros.data(), nullptr) == 1);
    pool_->used = 0;
    pool_->forks_at_seeding = forks.load(std::memory_order_relaxed);
    pool_->seeded = true;
  }

  void encrypt_in_place(std::span<std::uint8_t> bytes) {
    int written = 0;
    require(EVP_EncryptUpdate(context_.get(), bytes.data(), &written, bytes.data(),
                              static_cast<int>(bytes.size())) == 1);
    require(static_cast<std::size_t>(written) == bytes.size());
  }

  static constexpr std::array<std::uint8_t, key_bytes> zeros{};
  std::unique_ptr<EVP_CIPHER_CTX, FreeContext> context_;
  Pool* pool_ = nullptr;
};

class SystemEntropy final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    thread_local ThreadPool pool;
    pool.fill(out);
  }
};

}  // namespace

Entropy& system_entropy() {
  static SystemEntropy entropy;
  return entropy;
}

}  // namespace signet
