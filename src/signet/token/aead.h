// Authenticated encryption: XAES-256-GCM (C2SP specification), and the AES-256-GCM under it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <signet/base/bytes.h>

namespace signet::token {

inline constexpr std::size_t aead_key_bytes = 32;
inline constexpr std::size_t aead_tag_bytes = 16;
inline constexpr std::size_t xaes_nonce_bytes = 24;
inline constexpr std::size_t gcm_nonce_bytes = 12;

using AeadKeyView = std::span<const std::uint8_t, aead_key_bytes>;
using XaesNonceView = std::span<const std::uint8_t, xaes_nonce_bytes>;
using GcmNonceView = std::span<const std::uint8_t, gcm_nonce_bytes>;
using AeadTag = std::array<std::uint8_t, aead_tag_bytes>;
using AeadTagView = std::span<const std::uint8_t, aead_tag_bytes>;

// AES-256-GCM (NIST SP 800-38D) under a key that comes with each call, over contexts that are made once. One thread at
// a time. The contexts hold the last key until the next call; they are wiped with the object.
// A nonce must never serve twice under one key: with random nonces that limits a key to 2^32 messages.
class Aes256Gcm {
 public:
  Aes256Gcm();
  Aes256Gcm(const Aes256Gcm&) = delete;
  Aes256Gcm& operator=(const Aes256Gcm&) = delete;
  ~Aes256Gcm();

  // Encrypts `text` where it stands.
  void seal(AeadKeyView key, GcmNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
            std::span<std::uint8_t, aead_tag_bytes> tag);
  // Decrypts `text` where it stands and returns true; or returns false, and `text` is all zeros, where any of the
  // inputs is not what was sealed.
  [[nodiscard]] bool open(AeadKeyView key, GcmNonceView nonce, ByteView associated,
                          std::span<std::uint8_t> text, AeadTagView tag);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

// A key of XAES-256-GCM: AES-256-GCM under a key derived anew from each 192-bit nonce, so that random nonces are safe
// for any number of messages. Thread-safe. Everything derived from the key is wiped with it.
class XaesKey {
 public:
  explicit XaesKey(AeadKeyView key);
  XaesKey(const XaesKey&) = delete;
  XaesKey& operator=(const XaesKey&) = delete;
  ~XaesKey();

  // As of Aes256Gcm. The nonce must come from an Entropy.
  void seal(XaesNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
            std::span<std::uint8_t, aead_tag_bytes> tag) const;
  [[nodiscard]] bool open(XaesNonceView nonce, ByteView associated, std::span<std::uint8_t> text,
                          AeadTagView tag) const;

 private:
  class Worker;  // one thread's contexts, keyed once
  class Lease;

  // Threads spread over the slots, each of which keeps one worker between calls; a thread that finds its slot empty
  // makes a worker of its own. Owned by the key rather than by the threads, so that they go when the key goes.
  struct alignas(64) Slot {
    std::atomic<Worker*> worker{nullptr};
  };
  static constexpr std::size_t slots = 8;

  std::array<std::uint8_t, aead_key_bytes> key_;
  std::array<std::uint8_t, 16> subkey_{};  // K1 of the specification
  mutable std::array<Slot, slots> slots_;
};

}  // namespace signet::token
