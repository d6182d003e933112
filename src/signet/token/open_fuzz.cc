// The attacker writes the token and shows it with a request of their own; they may hold genuine tokens of their own too.
#include <signet/token/sealer.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <signet/token/base64url.h>
#include <signet/token/claims_format.h>
#include <signet/token/codec.h>

namespace {

using namespace signet;
using namespace signet::token;

void require(bool promise) {
  if (!promise) std::abort();
}

// Gives the same bytes for ever, so that a corpus keeps its meaning.
class Counting final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override {
    for (std::uint8_t& byte : out) byte = next_++;
  }

 private:
  std::uint8_t next_ = 1;
};

struct Setting {
  Setting() {
    std::vector<KeyEntry> entries;
    entries.push_back(generate_key("2026-11", KeyStage::seal, clock.now(), entropy));
    entries.push_back(generate_key("2026-10", KeyStage::accept, clock.now(), entropy));
    entries.push_back(generate_key("2026-09", KeyStage::retire, clock.now(), entropy));
    entries.back().retires_at = clock.now();
    const auto ring = KeyRing::make(std::move(entries)).value();
    sealer = std::make_unique<Sealer>(
        std::make_shared<NativeCodec>(std::make_shared<SharedRing>(ring), clock, entropy), Policy(), clock,
        entropy);
    binding.method = "tools/call";
    binding.target = "deploy";
    genuine = sealer->seal_now(binding, sealer->begin_flow(), as_bytes("state")).value();
  }

  ManualClock clock{Timestamp(std::chrono::milliseconds(1'790'000'000'000))};
  Counting entropy;
  std::unique_ptr<Sealer> sealer;
  Binding binding;
  std::string genuine;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Setting setting;
  const std::string_view input(reinterpret_cast<const char*>(data), size);

  // As a token: only the genuine one opens.
  const auto opened = setting.sealer->open_now(input, setting.binding);
  require(!opened.ok() || input == setting.genuine);

  // As a change to the genuine token: a place, and what to put there.
  if (size >= 2) {
    std::string changed = setting.genuine;
    const std::size_t at = (std::size_t{data[0]} << 8 | data[1]) % changed.size();
    changed.replace(at, size - 2, input.substr(2));
    require(!setting.sealer->open_now(changed, setting.binding).ok() || changed == setting.genuine);
  }

  // As base64url: what is read has one spelling, and both implementations say the same.
  Bytes scalar(size), wide(size);
  const bool read = token::detail::decode_base64url_scalar(input, scalar.data());
  require(read == token::detail::decode_base64url_wide(input, wide.data()));
  if (const auto bytes = decode_base64url(input)) {
    require(read && encode_base64url(*bytes) == input);
    require(std::equal(bytes->begin(), bytes->end(), wide.begin()));
  }

  // As what a codec found in a token: claims stay inside it.
  if (const auto decoded = decode_claims({data, size})) {
    require(decoded->size <= size && decoded->claims.flow.round >= 1);
    require(decoded->claims.expires_at <= latest_stamp);
    refusal_of(decoded->claims, setting.binding, setting.clock.now(), std::chrono::seconds(60), 16);
  }
  return 0;
}
