#include <signet/token/profiles/ciphers.h>

#include <openssl/evp.h>

#include <cstdlib>
#include <memory>

namespace signet::token::profiles {
namespace {

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

// Aborts on what is no fault of the data: no memory, or a library without the cipher.
void must(bool worked) {
  if (!worked) std::abort();
}

const EVP_CIPHER* evp(Cipher cipher) {
  return cipher == Cipher::aes_256_gcm ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
}

int length_of(ByteView bytes) { return static_cast<int>(bytes.size()); }

}  // namespace

Bytes encrypt(Cipher cipher, const Sealing& with, ByteView plaintext) {
  const Context context(EVP_CIPHER_CTX_new());
  must(context != nullptr && with.key.size() == cipher_key_bytes && with.nonce.size() == nonce_bytes);
  int length = 0;
  Bytes out(plaintext.size() + tag_bytes);
  must(EVP_EncryptInit_ex(context.get(), evp(cipher), nullptr, with.key.data(), with.nonce.data()) == 1);
  must(EVP_EncryptUpdate(context.get(), nullptr, &length, with.associated.data(),
                         length_of(with.associated)) == 1);
  must(EVP_EncryptUpdate(context.get(), out.data(), &length, plaintext.data(), length_of(plaintext)) == 1);
  must(EVP_EncryptFinal_ex(context.get(), out.data() + plaintext.size(), &length) == 1);
  must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, tag_bytes, out.data() + plaintext.size()) ==
       1);
  return out;
}

std::optional<Bytes> decrypt(Cipher cipher, const Sealing& with, ByteView ciphertext, ByteView tag) {
  const Context context(EVP_CIPHER_CTX_new());
  must(context != nullptr && with.key.size() == cipher_key_bytes && with.nonce.size() == nonce_bytes);
  must(tag.size() == tag_bytes);
  int length = 0;
  Bytes expected(tag.begin(), tag.end());
  Bytes out(ciphertext.size() + 1);  // never empty, so that there is a place to point to
  must(EVP_DecryptInit_ex(context.get(), evp(cipher), nullptr, with.key.data(), with.nonce.data()) == 1);
  must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, tag_bytes, expected.data()) == 1);
  must(EVP_DecryptUpdate(context.get(), nullptr, &length, with.associated.data(),
                         length_of(with.associated)) == 1);
  must(EVP_DecryptUpdate(context.get(), out.data(), &length, ciphertext.data(), length_of(ciphertext)) == 1);
  if (EVP_DecryptFinal_ex(context.get(), out.data() + ciphertext.size(), &length) != 1) return std::nullopt;
  out.resize(ciphertext.size());
  return out;
}

}  // namespace signet::token::profiles
