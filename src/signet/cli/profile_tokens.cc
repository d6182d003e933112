#include <signet/cli/profile_tokens.h>

#include <iostream>
#include <utility>

#include <signet/cli/command.h>
#include <signet/cli/token_command.h>

#ifdef SIGNET_HAS_PROFILES
#include <signet/base/entropy.h>
#include <signet/keys/ring_file.h>
#include <signet/keys/time_text.h>
#include <signet/token/profiles/profile.h>
#endif

namespace signet::cli {

#ifdef SIGNET_HAS_PROFILES

namespace {

using token::profiles::Context;
using token::profiles::Instant;
using token::profiles::Profile;
using token::profiles::ProfileConfig;
using token::profiles::ProfileKey;
using token::profiles::ProfileOpened;
using token::profiles::ProfileRefused;

// The secret as it stands in its file, which nobody else may read. One line break at the end is the editor's.
Secret read_secret(const std::string& path) {
  Result<Secret> bytes = keys::read_private_file(path);
  if (!bytes) fail(bytes.error().message);
  ByteView view = bytes->expose();
  if (!view.empty() && view.back() == '\n') view = view.first(view.size() - 1);
  return Secret::copy_of(view);
}

std::vector<ProfileKey> keys_of(const ProfileRequest& request) {
  std::vector<ProfileKey> keys;
  if (!request.secret_file.empty()) {
    keys.push_back({request.key_id, read_secret(request.secret_file)});
    return keys;
  }
  if (request.ring.empty()) fail("which keys? --secret-file FILE or --ring FILE");
  Result<std::shared_ptr<const token::KeyRing>> ring = keys::read_ring_file(request.ring);
  if (!ring) fail(ring.error().message);
  const token::RingKey& sealing = (*ring)->sealing();
  keys.push_back({sealing.id(), sealing.secret().clone()});
  for (const token::RingKey& key : (*ring)->keys()) {
    const bool opens = key.opens_at(request.now);
    if (&key != &sealing && opens) keys.push_back({key.id(), key.secret().clone()});
  }
  return keys;
}

std::unique_ptr<Profile> profile_of(const ProfileRequest& request) {
  ProfileConfig config;
  config.keys = keys_of(request);
  Result<std::unique_ptr<Profile>> profile =
      token::profiles::make_profile(request.profile, std::move(config));
  if (!profile) fail(request.profile + ": " + profile.error().message);
  return std::move(*profile);
}

Context context_of(const ProfileRequest& request) {
  Context context;
  context.method = request.method;
  context.params = request.params;
  context.audience = request.audience;
  context.principal = request.principal;
  context.protocol_version = request.version;
  context.bound = request.bound;
  context.now = request.now;
  return context;
}

std::string sentence_of(const ProfileRefused& refused) {
  std::string sentence = std::string(token::to_string(refused.reason)) + ": " + explain(refused.reason);
  if (!refused.stricter.empty())
    sentence += " (stricter than the original: " + std::string(refused.stricter) + ")";
  return sentence;
}

std::string shown(const std::optional<Instant>& instant) {
  if (!instant) return "(not said)";
  return keys::to_text(std::chrono::floor<std::chrono::milliseconds>(*instant));
}

}  // namespace

std::string seal_profile_token(const ProfileRequest& request, const std::string& state) {
  Result<std::string> token =
      profile_of(request)->seal(state, context_of(request), request.lifetime, system_entropy());
  if (!token) fail(token.error().message);
  return *token;
}

std::string open_profile_token(const ProfileRequest& request, const std::string& token) {
  Result<ProfileOpened, ProfileRefused> opened = profile_of(request)->open(token, context_of(request));
  if (!opened) fail("refused, " + sentence_of(opened.error()));
  return std::string(as_text(opened->state));
}

bool inspect_profile_token(const ProfileRequest& request, const std::string& token) {
  Result<ProfileOpened, ProfileRefused> opened = profile_of(request)->open(token, context_of(request));
  std::cout << "format            " << request.profile << '\n';
  if (!opened) {
    std::cout << "refused           " << sentence_of(opened.error()) << '\n';
    return false;
  }
  std::cout << "key               " << (opened->key_id.empty() ? "(the format names none)" : opened->key_id)
            << '\n'
            << "issued            " << shown(opened->issued_at) << '\n'
            << "expires           " << shown(opened->expires_at) << '\n'
            << "state             " << opened->state.size() << " bytes\n"
            << "verdict           good for this request at " << keys::to_text(request.now) << '\n';
  return true;
}

std::string profile_names() {
  std::string names;
  for (const std::string_view name : token::profiles::profile_names()) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

#else

namespace {

[[noreturn]] void fail_without_profiles() {
  fail("this build has no formats of other systems (SIGNET_PROFILES)");
}

}  // namespace

std::string seal_profile_token(const ProfileRequest&, const std::string&) { fail_without_profiles(); }
std::string open_profile_token(const ProfileRequest&, const std::string&) { fail_without_profiles(); }
bool inspect_profile_token(const ProfileRequest&, const std::string&) { fail_without_profiles(); }
std::string profile_names() { return "none in this build"; }

#endif

}  // namespace signet::cli
