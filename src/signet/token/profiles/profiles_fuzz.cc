// The attacker is any client: it sends back whatever it likes as requestState, to a server that was told to accept the
// tokens of another system. The first byte chooses the format; half of the inputs are sealed in it first and then
// changed in one place, so that what lies behind the seal is reached too.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <signet/token/profiles/profile.h>

namespace {

using namespace signet;
using namespace signet::token::profiles;

class Zeros final : public Entropy {
 public:
  void fill(std::span<std::uint8_t> out) override { std::fill(out.begin(), out.end(), std::uint8_t{0}); }
};

std::unique_ptr<Profile> profile_of(std::uint8_t choice) {
  const auto names = profile_names();
  ProfileConfig config;
  config.keys.push_back({"k", Secret(Bytes(32, 7))});
  const std::string_view name = names[choice % names.size()];
  if (name == "rmcp-rs2") config.rs1_fallbacks = {"k"};
  auto made = make_profile(name, std::move(config));
  return std::move(*made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::unique_ptr<Profile> profile = profile_of(data[0]);
  const std::string text(reinterpret_cast<const char*>(data + 3), size - 3);
  Context context;
  context.method = "tools/call";
  context.params = R"({"name":"deploy","arguments":{"n":1.0}})";
  context.now = Instant(std::chrono::seconds(1'790'000'000));
  if (data[1] % 2 == 0) {
    (void)profile->open(text, context);
    (void)python_arguments_digest(text);
    (void)ruby_arguments_digest(text);
    return 0;
  }
  Zeros entropy;
  const auto sealed = profile->seal(text, context, std::nullopt, entropy);
  if (!sealed) return 0;
  if (!profile->open(*sealed, context)) std::abort();  // what it seals, it opens
  std::string changed = *sealed;
  changed[data[2] % changed.size()] ^= static_cast<char>(1U << (data[1] / 2 % 7));
  if (changed != *sealed && profile->open(changed, context)) std::abort();
  return 0;
}
