#include <signet/cli/token_command.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include <signet/base/clock.h>
#include <signet/base/digest.h>
#include <signet/base/entropy.h>
#include <signet/cli/command.h>
#include <signet/cli/help.h>
#include <signet/cli/profile_tokens.h>
#include <signet/cli/shown_text.h>
#include <signet/json/text.h>
#include <signet/keys/ring_file.h>
#include <signet/keys/time_text.h>
#include <signet/token/aead.h>
#include <signet/token/base64url.h>
#include <signet/token/claims_format.h>
#include <signet/token/codec.h>
#include <signet/token/sealer.h>

namespace signet::cli {
namespace {

using token::Binding;
using token::Claims;
using token::ClaimText;
using token::KeyRing;
using token::NativeCodec;
using token::Opened;
using token::Policy;
using token::Refused;
using token::RingKey;
using token::Sealer;
using token::SharedRing;

constexpr std::size_t input_bytes_max = std::size_t{1} << 20;
constexpr std::size_t params_bytes_max = std::size_t{4} << 20;

struct TokenOptions {
  std::string ring;
  std::string method = "tools/call";
  std::string params;
  std::string principal = "anonymous";
  std::string audience;
  std::string version = "2026-07-28";
  std::string now;
  std::string profile;  // a format of another system; empty for the native one
  std::string secret_file;
  std::string key_id;
  std::string bound;
  std::int64_t lifetime_seconds = 0;  // 0: as the policy says
  bool show_state = false;
  CLI::App* command = nullptr;  // to see which options were given

  bool given(const std::string& option) const {
    const CLI::Option* known = command->get_option_no_throw(option);
    return known != nullptr && known->count() > 0;
  }
};

Json read_params(const TokenOptions& options) {
  if (options.params.empty()) return Json::object();
  Result<Json, json::ParseError> params = json::parse(read_input(options.params, params_bytes_max));
  if (!params) fail(options.params + ": " + json::describe(params.error()));
  if (!params->is_object()) fail(options.params + ": the params are no object");
  return std::move(*params);
}

// From the method's own member, never from whichever is there.
std::string target_of(const std::string& method, const Json& params) {
  const std::string_view member = method == "resources/read" ? "uri" : "name";
  const std::string* target = params.find_string(member);
  return target != nullptr ? *target : std::string();
}

Digest arguments_of(const std::string& method, const Json& params) {
  const Json* arguments = method == "resources/read" ? nullptr : params.find("arguments");
  return sha256(as_bytes(json::canonical(arguments != nullptr ? *arguments : Json::object())));
}

Principal principal_of(const std::string& text) {
  if (text == "anonymous") return Principal::anonymous();
  if (text == "local") return Principal::local();
  return Principal::authenticated(text.starts_with("id:") ? text.substr(3) : text);
}

Binding binding_of(const TokenOptions& options) {
  const Json params = read_params(options);
  Binding binding;
  binding.method = options.method;
  binding.target = target_of(options.method, params);
  binding.arguments = arguments_of(options.method, params);
  binding.audience = options.audience;
  binding.principal = principal_of(options.principal);
  binding.protocol_version = options.version;
  return binding;
}

std::optional<std::chrono::milliseconds> lifetime_of(const TokenOptions& options) {
  if (options.lifetime_seconds == 0) return std::nullopt;
  return std::chrono::seconds(options.lifetime_seconds);
}

// As the other system knew the caller: nobody, or a name.
std::optional<std::string> named_caller(const TokenOptions& options) {
  const Principal principal = principal_of(options.principal);
  if (principal.kind == Principal::Kind::authenticated) return principal.id;
  if (options.given("--principal")) {
    std::cerr << "signet: --principal " << options.principal
              << " is nobody with a name; a caller of that name is id:" << options.principal << '\n';
  }
  return std::nullopt;
}

ProfileRequest profile_request_of(const TokenOptions& options) {
  ProfileRequest request;
  request.profile = options.profile;
  request.ring = options.ring;
  request.secret_file = options.secret_file;
  request.key_id = options.key_id;
  for (const char* option : {"--key-id", "--method", "--params", "--principal", "--audience", "--bound",
                             "--protocol-version", "--lifetime"}) {
    if (options.given(option)) request.given.emplace_back(option);
  }
  request.method = options.method;
  // The text itself: other systems take digests in which 1.0 is not 1.
  if (!options.params.empty()) request.params = read_input(options.params, params_bytes_max);
  if (options.given("--audience")) request.audience = options.audience;
  request.principal = named_caller(options);
  if (options.given("--bound")) request.bound = options.bound;
  request.version = options.version;
  request.now = time_or_now(options.now);
  request.lifetime = lifetime_of(options);
  request.show_state = options.show_state;
  return request;
}

// The line end behind a token is not part of it. A token of protocol-droid ends with the state itself, which may end with
// line ends of its own: there it is the one that `seal` wrote.
std::string read_token(const TokenOptions& options) {
  std::string token = read_input("-", input_bytes_max);
  const bool ends_with_state = options.profile == "protocol-droid";
  if (ends_with_state && token.ends_with('\n')) token.pop_back();
  while (!ends_with_state && (token.ends_with('\n') || token.ends_with('\r'))) token.pop_back();
  if (token.empty()) fail("there is no token on standard input");
  return token;
}

// A sealer over a ring file, at the time that an option gives.
class Bench {
 public:
  explicit Bench(const TokenOptions& options) : clock_(time_or_now(options.now)) {
    if (options.ring.empty()) fail("which ring? --ring FILE, or SIGNET_RING", 2);
    Result<std::shared_ptr<const KeyRing>> ring =
        keys::read_ring_file(options.ring, keys::RingReader::administrator);
    if (!ring) fail(ring.error().message);
    ring_ = *ring;
    codec_ = std::make_shared<NativeCodec>(std::make_shared<SharedRing>(ring_), clock_, system_entropy());
  }

  Sealer sealer(const Policy& policy = Policy()) { return Sealer(codec_, policy, clock_, system_entropy()); }
  // What is inside, also where the key has retired since.
  Result<token::Unsealed, Refused> look_inside(const std::string& token) const {
    const ManualClock beginning{Timestamp::min()};
    NativeCodec codec(std::make_shared<SharedRing>(ring_), beginning, system_entropy());
    return codec.immediate()->open_now(token);
  }
  const KeyRing& ring() const { return *ring_; }
  Timestamp now() const { return clock_.now(); }

 private:
  ManualClock clock_;
  std::shared_ptr<const KeyRing> ring_;
  std::shared_ptr<NativeCodec> codec_;
};

void seal(const TokenOptions& options) {
  const std::string state = read_input("-", input_bytes_max);
  if (!options.profile.empty()) {
    std::cout << seal_profile_token(profile_request_of(options), state) << '\n';
    return;
  }
  Bench bench(options);
  Sealer sealer = bench.sealer();
  Result<std::string> token =
      sealer.seal_now(binding_of(options), sealer.begin_flow(), as_bytes(state), lifetime_of(options));
  if (!token) fail(token.error().message);
  std::cout << *token << '\n';
}

void open(const TokenOptions& options) {
  const std::string token = read_token(options);
  if (!options.profile.empty()) {
    std::cout << open_profile_token(profile_request_of(options), token) << std::flush;
    return;
  }
  Bench bench(options);
  Result<Opened, Refused> opened = bench.sealer().open_now(token, binding_of(options));
  if (!opened) {
    fail("refused, " + std::string(token::to_string(opened.error().reason)) + ": " +
         explain(opened.error().reason));
  }
  std::cout << as_text(opened->state) << std::flush;
}

// A text from inside a token, in quotes, so that it cannot play with the terminal.
std::string quoted(ByteView bytes) { return printable(json::write(Json(std::string(as_text(bytes))))); }

std::string shown(const ClaimText& claim) {
  if (claim.is_digest()) return "SHA-256 " + hex(claim.bytes()) + " (longer than 64 bytes)";
  return claim.bytes().empty() ? "(none)" : quoted(claim.bytes());
}

std::string shown_principal(const Claims& claims) {
  switch (claims.principal_kind) {
    case Principal::Kind::anonymous:
      return "anonymous: whoever holds the state may use it";
    case Principal::Kind::local:
      return "local: the parent process";
    case Principal::Kind::authenticated:
      return shown(claims.principal);
  }
  return "";
}

void print_claims(const Claims& claims) {
  print_line("method", shown(claims.method));
  print_line("target", shown(claims.target));
  print_line("arguments", "SHA-256 " + hex(claims.arguments));
  print_line("audience", shown(claims.audience));
  print_line("principal", shown_principal(claims));
  print_line("protocol version", shown(claims.protocol_version));
  print_line("flow", hex(claims.flow.id));
  print_line("round", std::to_string(claims.flow.round));
  print_line("issued", keys::to_text(claims.issued_at));
  print_line("expires", keys::to_text(claims.expires_at));
  print_line("flow ends", keys::to_text(claims.flow.deadline));
}

void print_refusal(token::Refusal refusal) {
  print_line("refused", std::string(token::to_string(refusal)) + ": " + explain(refusal));
}

// One line for each thing that the options name and the token does not have, for each date that has passed, and for
// what is in `refusals` already.
bool print_verdict(const Claims& claims, const TokenOptions& options, Timestamp now,
                   std::vector<token::Refusal> refusals) {
  const Binding binding = binding_of(options);
  const Policy policy;
  if (claims.issued_at > now + policy.clock_skew) refusals.push_back(token::Refusal::issued_in_future);
  if (now >= claims.flow.deadline) refusals.push_back(token::Refusal::flow_expired);
  if (now >= claims.expires_at) refusals.push_back(token::Refusal::expired);
  if (claims.flow.round > policy.rounds_max) refusals.push_back(token::Refusal::rounds_exceeded);
  if (options.given("--method") && !claims.method.matches(binding.method)) {
    refusals.push_back(token::Refusal::other_method);
  }
  if (options.given("--params")) {
    if (!claims.target.matches(binding.target)) refusals.push_back(token::Refusal::other_target);
    if (claims.arguments != binding.arguments) refusals.push_back(token::Refusal::other_arguments);
  }
  if (options.given("--audience") && !claims.audience.matches(binding.audience)) {
    refusals.push_back(token::Refusal::other_audience);
  }
  const bool same_principal =
      claims.principal_kind == binding.principal.kind && claims.principal.matches(binding.principal.id);
  if (options.given("--principal") && !same_principal) refusals.push_back(token::Refusal::other_principal);
  if (options.given("--protocol-version") && !claims.protocol_version.matches(binding.protocol_version)) {
    refusals.push_back(token::Refusal::other_version);
  }
  for (const token::Refusal refusal : refusals) print_refusal(refusal);
  if (refusals.empty()) {
    print_line("verdict", "good at " + keys::to_text(now) + ", as far as the options say");
    print_line("", "(whether it was redeemed before, only the store knows)");
  }
  return refusals.empty();
}

// What everybody can see of a token of our own form; nothing where it is none.
struct Outside {
  std::string key_id;
  token::TokenId token_id{};
  std::size_t content_bytes = 0;  // claims and state
};

std::optional<Outside> outside_of(std::string_view token) {
  const std::optional<std::string_view> key_id = token::native_key_id(token);
  if (!key_id) return std::nullopt;
  const std::optional<Bytes> raw = token::decode_base64url(token.substr(token.rfind('.') + 1));
  if (!raw || raw->size() < token::xaes_nonce_bytes + token::aead_tag_bytes) return std::nullopt;
  Outside outside;
  outside.key_id = *key_id;
  std::copy_n(raw->begin(), outside.token_id.size(), outside.token_id.begin());
  outside.content_bytes = raw->size() - token::xaes_nonce_bytes - token::aead_tag_bytes;
  return outside;
}

void refuse_what_needs_a_ring(const TokenOptions& options) {
  for (const char* option :
       {"--method", "--params", "--principal", "--audience", "--protocol-version", "--now", "--state"}) {
    if (options.given(option)) fail(std::string(option) + " says nothing without --ring", 2);
  }
}

// Without keys: whether it may be a token at all.
bool inspect_outside(const std::string& token) {
  const std::optional<Outside> outside = outside_of(token);
  if (!outside) {
    print_line("refused",
               "malformed: this is no token. Signet's own are sg1.KEY.TEXT, in one spelling; those of "
               "other systems need --profile");
    return false;
  }
  print_line("token id", hex(outside->token_id));
  print_line("content", std::to_string(outside->content_bytes) + " bytes of claims and state, sealed");
  if (token.size() > Policy().accepted_bytes_max) {
    print_refusal(token::Refusal::too_large);
    return false;
  }
  print_line("verdict", "none without --ring: only who holds the key can look inside");
  return true;
}

void inspect(const TokenOptions& options) {
  const std::string token = read_token(options);
  if (!options.profile.empty()) {
    if (!inspect_profile_token(profile_request_of(options), token)) throw CLI::RuntimeError(1);
    return;
  }
  if (options.ring.empty()) refuse_what_needs_a_ring(options);
  print_line("size", std::to_string(token.size()) + " bytes");
  const std::optional<std::string_view> key_id = token::native_key_id(token);
  print_line("format", key_id ? "sg1, native" : "not a native token");
  if (key_id) print_line("key", std::string(*key_id));
  if (options.ring.empty()) {
    if (!inspect_outside(token)) throw CLI::RuntimeError(1);
    return;
  }
  Bench bench(options);
  std::vector<token::Refusal> refusals;
  if (token.size() > Policy().accepted_bytes_max) refusals.push_back(token::Refusal::too_large);
  if (const RingKey* key = key_id ? bench.ring().find(*key_id) : nullptr) {
    print_line("key stage", std::string(token::to_string(key->stage())));
    if (key->retires_at()) print_line("key opens until", keys::to_text(*key->retires_at()));
    if (!key->opens_at(bench.now())) refusals.push_back(token::Refusal::key_retired);
  }
  const Result<token::Unsealed, Refused> unsealed = bench.look_inside(token);
  std::optional<token::DecodedClaims> decoded;
  if (unsealed) decoded = token::decode_claims(unsealed->plaintext);
  if (!decoded) {
    for (const token::Refusal refusal : refusals) print_refusal(refusal);
    print_refusal(unsealed ? token::Refusal::malformed : unsealed.error().reason);
    throw CLI::RuntimeError(1);
  }
  print_line("token id", hex(unsealed->token_id));
  print_claims(decoded->claims);
  const ByteView state = ByteView(unsealed->plaintext).subspan(decoded->size);
  print_line("state", shown_state(state, options.show_state));
  if (!print_verdict(decoded->claims, options, bench.now(), std::move(refusals))) throw CLI::RuntimeError(1);
}

// Takes the usual ring where no keys are named, and refuses what does not go together.
void settle(TokenOptions& options) {
  if (options.given("--ring") && options.given("--secret-file")) {
    fail("--ring and --secret-file: which of them has the keys?", 2);
  }
  if (options.params == "-") fail("standard input is the token or the state: name a file after --params", 2);
  const char* usual = std::getenv("SIGNET_RING");
  if (!options.given("--ring") && !options.given("--secret-file") && usual != nullptr) options.ring = usual;
}

constexpr const char* exit_help =
    "Exit codes: 0 sealed, opened or good, 1 refused or failed, 2 wrong command line.";

std::string usage_of(const std::string& name) {
  return "signet token " + name + " --ring FILE [OPTIONS] < " + (name == "seal" ? "STATE" : "TOKEN");
}

CLI::App* subcommand(CLI::App& token, const std::string& name, const std::string& description,
                     void (*run)(const TokenOptions&)) {
  const auto options = std::make_shared<TokenOptions>();
  CLI::App* command = token.add_subcommand(name, description);
  options->command = command;
  command->formatter(std::make_shared<Help>(usage_of(name)));
  command->footer(exit_help);
  const auto add = [command](const char* option, std::string& value, const char* type,
                             const std::string& says) {
    return command->add_option(option, value, says)->type_name(type);
  };
  add("--ring", options->ring, "FILE", "The ring file (else $SIGNET_RING)");
  const std::string profiles = profile_names();
  if (!profiles.empty()) {
    add("--profile", options->profile, "NAME", "The format of another system: " + profiles);
    add("--secret-file", options->secret_file, "FILE",
        "With --profile, instead of --ring: a file with that system's secret, byte for byte; of a text, the "
        "line end at "
        "its end is no part")
        ->needs("--profile");
    add("--key-id", options->key_id, "NAME", "With --secret-file: the key's name, where the format has names")
        ->needs("--secret-file");
    add("--bound", options->bound, "TEXT", "With --profile: what the application bound itself")
        ->needs("--profile");
  }
  add("--method", options->method, "METHOD", "The request's method (tools/call)");
  add("--params", options->params, "FILE",
      "A file with the request's params as JSON: name or uri, arguments");
  add("--principal", options->principal, "CALLER",
      "Who calls: anonymous (nobody with a name), local (the parent process), or the caller's id; "
      "id:NAME is the caller NAME, also where that is one of these words (anonymous)");
  add("--audience", options->audience, "NAME", "The service");
  add("--protocol-version", options->version, "DATE", "The revision of the protocol (2026-07-28)");
  add("--now", options->now, "TIME", "Another time than now (RFC 3339, UTC)");
  if (name == "seal") {
    add_duration(*command, "--lifetime", options->lifetime_seconds,
                 "How long it opens (600s, and at most 300s for an anonymous caller)", 1);
  }
  if (name == "inspect") command->add_flag("--state", options->show_state, "Show the state itself");
  command->callback([options, run] {
    settle(*options);
    run(*options);
  });
  return command;
}

}  // namespace

void print_line(const std::string& name, const std::string& value) {
  std::cout << name << std::string(name.size() < 18 ? 18 - name.size() : 1, ' ') << value << '\n';
}

std::string shown_state(ByteView state, bool wanted) {
  return wanted ? quoted(state) : std::to_string(state.size()) + " bytes (--state shows them)";
}

std::string explain(token::Refusal refusal) {
  switch (refusal) {
    case token::Refusal::malformed:
      return "this is no token of this format: it was cut, respelled, or is something else";
    case token::Refusal::too_large:
      return "it is larger than a server accepts";
    case token::Refusal::unknown_key:
      return "the ring has no key of that name: another ring sealed it, or the key was taken out";
    case token::Refusal::key_retired:
      return "its key is past the date until which it opens";
    case token::Refusal::not_authentic:
      return "a key of that name did not seal these bytes: they were changed, or another secret has the same "
             "name";
    case token::Refusal::issued_in_future:
      return "it was issued more than the allowed difference of clocks ahead: look at the clocks of the "
             "instances";
    case token::Refusal::expired:
      return "its time is over: the answer came too late";
    case token::Refusal::flow_expired:
      return "the whole exchange has lasted longer than flows may";
    case token::Refusal::rounds_exceeded:
      return "the exchange has had more rounds than allowed";
    case token::Refusal::other_method:
      return "it was sealed for another method than the request's";
    case token::Refusal::other_target:
      return "it was sealed for another tool, prompt or resource";
    case token::Refusal::other_arguments:
      return "it was sealed for other arguments";
    case token::Refusal::other_audience:
      return "it was sealed for another service";
    case token::Refusal::other_principal:
      return "it was sealed for somebody else";
    case token::Refusal::other_version:
      return "it was sealed under another revision of the protocol";
    case token::Refusal::already_used:
      return "it was redeemed before, and may be redeemed once";
    case token::Refusal::unavailable:
      return "its key or its stored state could not be reached";
  }
  return "";
}

void add_token_command(CLI::App& signet) {
  CLI::App* token = signet.add_subcommand("token", "Seal, open and look into request states");
  token->require_subcommand(1);
  token->formatter(std::make_shared<Help>("signet token COMMAND [OPTIONS]"));
  token->footer(std::string("signet token COMMAND --help says more.\n\n") + exit_help);
  subcommand(*token, "seal", "Seal the state on standard input for a request", seal);
  subcommand(*token, "open", "Open the token on standard input for a request, and print its state", open);
  subcommand(*token, "inspect", "Say what the token on standard input is, and why it would be refused",
             inspect);
}

}  // namespace signet::cli
