#include <signet/cli/profile_tokens.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include <signet/cli/command.h>
#include <signet/cli/shown_text.h>
#include <signet/cli/token_command.h>
#include <signet/json/utf8.h>

#ifdef SIGNET_HAS_PROFILES
#include <signet/base/entropy.h>
#include <signet/cli/profile_contents.h>
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

// What a format makes of the options.
struct Format {
  std::string_view name;
  bool takes_one_key;        // and its tokens do not name it
  std::string_view options;  // of those that not every format knows
};

constexpr std::array<Format, 8> formats = {{
    {"haskell-mcp-server", false, "--key-id"},
    {"python-sdk-v1", false, "--method --params --audience --principal --lifetime"},
    {"ruby-sdk-v1", true, "--method --params --audience --lifetime"},
    {"typescript-sdk-v1", true, "--bound --lifetime"},
    {"rmcp-rs1", true, "--bound --lifetime"},
    {"rmcp-rs2", false, "--key-id --bound --lifetime"},
    {"protocol-droid", true, ""},
    {"conduit-mcp-0.11", false,
     "--key-id --method --params --audience --principal --protocol-version --lifetime"},
}};

bool knows(const Format& format, std::string_view option) {
  return (" " + std::string(format.options) + " ").find(" " + std::string(option) + " ") != std::string::npos;
}

// The format that is meant, if all that was said means something to it: nobody shall take for verified what was not
// even looked at.
const Format& format_of(const ProfileRequest& request) {
  const auto format = std::find_if(formats.begin(), formats.end(),
                                   [&](const Format& one) { return one.name == request.profile; });
  if (format == formats.end()) {
    fail("there is no format " + printable(request.profile) + "; there are " + profile_names(), 2);
  }
  for (const std::string& option : request.given) {
    if (knows(*format, option)) continue;
    fail("tokens of " + request.profile + " do not depend on " + option + ": leave it out", 2);
  }
  if (!request.secret_file.empty() && request.key_id.empty() && knows(*format, "--key-id")) {
    fail(request.profile + " names its keys: --key-id NAME beside --secret-file", 2);
  }
  return *format;
}

Secret read_secret(const std::string& path) {
  Result<Secret> bytes = keys::read_private_file(path, keys::RingReader::administrator);
  if (!bytes) fail(bytes.error().message);
  return Secret::copy_of(secret_in(bytes->expose()));
}

// The first seals.
std::vector<ProfileKey> keys_of(const ProfileRequest& request) {
  std::vector<ProfileKey> keys;
  if (!request.secret_file.empty()) {
    keys.push_back({request.key_id, read_secret(request.secret_file)});
    return keys;
  }
  if (request.ring.empty()) fail("which keys? --secret-file FILE or --ring FILE", 2);
  Result<std::shared_ptr<const token::KeyRing>> ring =
      keys::read_ring_file(request.ring, keys::RingReader::administrator);
  if (!ring) fail(ring.error().message);
  const token::RingKey& sealing = (*ring)->sealing();
  keys.push_back({sealing.id(), sealing.secret().clone()});
  for (const token::RingKey& key : (*ring)->keys()) {
    const bool opens = key.opens_at(request.now);
    if (&key != &sealing && opens) keys.push_back({key.id(), key.secret().clone()});
  }
  return keys;
}

// A format with its keys; or with one of them, where it takes no more and its tokens do not say which.
struct Candidate {
  std::string key_id;  // empty where the tokens say it, or the secret has no name
  std::unique_ptr<Profile> profile;
};

Candidate candidate_of(const ProfileRequest& request, std::string key_id, std::vector<ProfileKey> keys) {
  ProfileConfig config;
  config.keys = std::move(keys);
  Result<std::unique_ptr<Profile>> profile =
      token::profiles::make_profile(request.profile, std::move(config));
  if (!profile) fail(request.profile + ": " + profile.error().message);
  return {std::move(key_id), std::move(*profile)};
}

// The first seals, all open.
std::vector<Candidate> candidates_of(const ProfileRequest& request) {
  const bool takes_one_key = format_of(request).takes_one_key;
  std::vector<ProfileKey> keys = keys_of(request);
  std::vector<Candidate> candidates;
  if (!takes_one_key) {
    candidates.push_back(candidate_of(request, {}, std::move(keys)));
    return candidates;
  }
  for (ProfileKey& key : keys) {
    std::vector<ProfileKey> one;
    std::string id = key.id;
    one.push_back(std::move(key));
    candidates.push_back(candidate_of(request, std::move(id), std::move(one)));
  }
  return candidates;
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

// The first key that opens it, else the refusal that says most: of a key that made it, if there is one.
Result<ProfileOpened, ProfileRefused> open_with(const std::vector<Candidate>& candidates,
                                                const ProfileRequest& request, const std::string& token) {
  std::optional<ProfileRefused> refused;
  for (const Candidate& candidate : candidates) {
    Result<ProfileOpened, ProfileRefused> opened = candidate.profile->open(token, context_of(request));
    if (opened) {
      if (opened->key_id.empty()) opened->key_id = candidate.key_id;
      return opened;
    }
    if (refused && opened.error().reason == token::Refusal::not_authentic) continue;
    const bool made_it = opened.error().reason != token::Refusal::not_authentic &&
                         opened.error().reason != token::Refusal::malformed;
    refused = std::move(opened.error());
    if (refused->key_id.empty() && made_it) refused->key_id = candidate.key_id;
  }
  return failure(std::move(*refused));
}

// In words for whoever holds the keys, where the format's reasons mean something else than our own.
std::string explain(const ProfileRequest& request, const std::string& token, token::Refusal refusal) {
  const Format& format = format_of(request);
  const bool is_rmcp = format.name.starts_with("rmcp");
  const bool is_conduit = format.name.starts_with("conduit");
  switch (refusal) {
    case token::Refusal::unknown_key:
      if (is_rmcp && token.starts_with("rs1.")) return "this is a token of --profile rmcp-rs1";
      return "none of the keys given is the one that the token names: another ring or secret made it";
    case token::Refusal::not_authentic:
      if (is_rmcp) {
        return "its bytes were changed, another secret made them, or the application bound something else "
               "than --bound says: this format takes all of it into one tag, so which of these cannot be "
               "told";
      }
      if (is_conduit) {
        return "its bytes were changed, another secret has the same name, or it was sealed for another "
               "method, service or revision of the protocol: this format takes all of it into one tag, so "
               "which of "
               "these cannot be told";
      }
      if (format.takes_one_key) return "its bytes were changed, or another secret made them";
      return cli::explain(refusal);
    case token::Refusal::other_arguments:
      if (format.name.starts_with("typescript")) {
        return "the application's bind() gave something else than --bound says (or --bound is not given): "
               "most often another caller";
      }
      if (is_conduit) return "it was sealed for other params: this format binds all of them";
      return cli::explain(refusal);
    default:
      return cli::explain(refusal);
  }
}

std::string sentence_of(const ProfileRequest& request, const std::string& token,
                        const ProfileRefused& refused) {
  std::string sentence =
      std::string(token::to_string(refused.reason)) + ": " + explain(request, token, refused.reason);
  if (!refused.stricter.empty())
    sentence += " (stricter than the original: " + std::string(refused.stricter) + ")";
  return sentence;
}

std::string shown(const std::optional<Instant>& instant) {
  if (!instant) return "(not said)";
  return keys::to_text(std::chrono::floor<std::chrono::milliseconds>(*instant));
}

// What a token says that a key given made, though it is refused: as much as there is to compare the request with.
void print_contents(const ProfileRequest& request, const ProfileRefused& refused) {
  if (refused.reason == token::Refusal::malformed) return;
  const std::optional<ProfileContents> contents = contents_of(request.profile, refused.content);
  if (!contents) return;
  for (const auto& [name, value] : contents->claims) print_line(name, value);
  if (contents->state) print_line("state", shown_state(*contents->state, request.show_state));
}

}  // namespace

std::string seal_profile_token(const ProfileRequest& request, const std::string& state) {
  const std::vector<Candidate> candidates = candidates_of(request);
  Result<std::string> token =
      candidates.front().profile->seal(state, context_of(request), request.lifetime, system_entropy());
  if (!token) fail(token.error().message);
  return *token;
}

std::string open_profile_token(const ProfileRequest& request, const std::string& token) {
  Result<ProfileOpened, ProfileRefused> opened = open_with(candidates_of(request), request, token);
  if (!opened) fail("refused, " + sentence_of(request, token, opened.error()));
  return std::string(as_text(opened->state));
}

bool inspect_profile_token(const ProfileRequest& request, const std::string& token) {
  Result<ProfileOpened, ProfileRefused> opened = open_with(candidates_of(request), request, token);
  print_line("size", std::to_string(token.size()) + " bytes");
  print_line("format", request.profile);
  if (!opened) {
    if (!opened.error().key_id.empty()) print_line("key", printable(opened.error().key_id));
    print_contents(request, opened.error());
    print_line("refused", sentence_of(request, token, opened.error()));
    return false;
  }
  print_line("key", opened->key_id.empty() ? "(the format names none)" : printable(opened->key_id));
  print_line("issued", shown(opened->issued_at));
  print_line("expires", shown(opened->expires_at));
  print_line("state", shown_state(opened->state, request.show_state));
  print_line("verdict", "good for this request at " + keys::to_text(request.now));
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

ByteView secret_in(ByteView file) {
  ByteView line = file;
  if (!line.empty() && line.back() == '\n') line = line.first(line.size() - 1);
  if (!line.empty() && line.size() < file.size() && line.back() == '\r') line = line.first(line.size() - 1);
  const std::string_view text = as_text(line);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const bool is_text = json::is_utf8(text) && std::none_of(text.begin(), text.end(), is_control);
  return is_text ? line : file;
}

}  // namespace signet::cli
