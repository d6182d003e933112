// The attacker writes the ring: a file or a variable that somebody put there by mistake or on purpose.
#include <signet/keys/ring_text.h>

#include <cstdlib>

#include <signet/keys/time_text.h>

namespace {

void require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace signet;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = keys::parse_time(text)) require(keys::parse_time(keys::to_text(*time)) == time);

  Result<std::vector<token::KeyEntry>> entries = keys::parse_ring(text);
  if (!entries) return 0;
  const Secret written = keys::write_ring(*entries);
  Result<std::vector<token::KeyEntry>> again = keys::parse_ring(as_text(written.expose()));
  require(again.ok() && again->size() == entries->size());
  for (std::size_t i = 0; i < entries->size(); ++i) {
    require((*again)[i].id == (*entries)[i].id && (*again)[i].stage == (*entries)[i].stage);
    require(equal_in_constant_time((*again)[i].secret.expose(), (*entries)[i].secret.expose()));
    require((*again)[i].since == (*entries)[i].since && (*again)[i].retires_at == (*entries)[i].retires_at);
  }
  const auto ring = token::KeyRing::make(std::move(*entries));
  require(!ring.ok() || (*ring)->sealing().stage() == token::KeyStage::seal);
  return 0;
}
