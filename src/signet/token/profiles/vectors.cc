#include <signet/token/profiles/vectors.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::size_t file_bytes_max = std::size_t{64} << 20;
constexpr int file_depth_max = 1000;
constexpr std::size_t expanded_bytes_max = std::size_t{16}
                                           << 20;  // of the repeated strings of a vector, and of a token

// A vector that is not in the form of vectors. Caught where the vectors of a file are gone through: reading them is
// fifty small steps, of which each may find this.
struct MalformedVector : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void malformed(const std::string& what) { throw MalformedVector(what); }

Bytes bytes_of_hex(const std::string& text) {
  Bytes bytes(text.size() / 2);
  bool good = text.size() % 2 == 0;
  for (std::size_t i = 0; good && i < bytes.size(); ++i) {
    const char* at = text.data() + 2 * i;
    good = std::from_chars(at, at + 2, bytes[i], 16).ptr == at + 2 && *at != '-';
  }
  if (!good) malformed("a value that should be hexadecimal is not");
  return bytes;
}

const Text* find(const Text* object, std::string_view name) {
  const Text* member = object == nullptr ? nullptr : object->find(name);
  return member == nullptr || member->is(Text::Kind::null) ? nullptr : member;
}
// The first of the names that is there.
const Text* find(const Text* object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const Text* member = find(object, name)) return member;
  }
  return nullptr;
}

const std::string& as_string(const Text& value, std::string_view name) {
  if (!value.is(Text::Kind::string)) malformed("\"" + std::string(name) + "\" is no string");
  return value.value;
}
std::optional<std::string> string_at(const Text* object, std::string_view name) {
  const Text* member = find(object, name);
  if (member == nullptr) return std::nullopt;
  return as_string(*member, name);
}
double as_number(const Text& value, std::string_view name) {
  if (!value.is(Text::Kind::number) || !std::isfinite(double_of(value))) {
    malformed("\"" + std::string(name) + "\" is no number");
  }
  return double_of(value);
}
bool bool_at(const Text* object, std::string_view name) {
  const Text* member = find(object, name);
  return member != nullptr && member->value == "true";
}

// {"repeat": "x", "times": 3} stands for "xxx", wherever it is. `left` is how many bytes this may still make.
void expand_repeats(Text& value, double& left) {
  for (Text& element : value.elements) expand_repeats(element, left);
  for (auto& member : value.members) expand_repeats(member.value, left);
  const std::string* unit = value.find_string("repeat");
  const Text* times = value.find("times");
  if (unit == nullptr || times == nullptr || value.members.size() != 2) return;
  const double count = as_number(*times, "times");
  const double bytes = count * static_cast<double>(unit->size());
  if (count < 0 || bytes > left) malformed("a repeated string is too long");
  left -= bytes;
  std::string text;
  for (double i = 0; i < count && !unit->empty(); ++i) text += *unit;
  value = Text::of_string(text);
}

Text expanded(Text value) {
  auto left = static_cast<double>(expanded_bytes_max);
  expand_repeats(value, left);
  return value;
}

// A token_expr: literals in quotes, joined by + and repeated by *, as 'v1.' + 'A'*65533 + '.'.
class TokenExpression {
 public:
  explicit TokenExpression(std::string_view text) : rest_(text) {}
  std::string value() {
    std::string token;
    do {
      token += term();
      if (token.size() > expanded_bytes_max) malformed("the token of token_expr is too long");
    } while (take('+'));
    skip_space();
    if (!rest_.empty()) malformed("token_expr is not understood");
    return token;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A literal with a count after it or before it, or with none.
  std::string term() {
    skip_space();
    const bool count_first = !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
    std::size_t times = count_first ? count() : 1;
    if (count_first && !take('*')) malformed("token_expr is not understood");
    const std::string unit = literal();
    if (!count_first && take('*')) times = count();
    if (unit.size() * times > expanded_bytes_max) malformed("the token of token_expr is too long");
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += unit;
    return text;
  }
  std::size_t count() {
    skip_space();
    std::size_t times = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), times);
    if (error != std::errc() || times > expanded_bytes_max) malformed("token_expr is not understood");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return times;
  }
  std::string literal() {
    const bool double_quoted = take('"');
    if (!double_quoted && !take('\'')) malformed("token_expr is not understood");
    const std::size_t end = rest_.find(double_quoted ? '"' : '\'');
    if (end == std::string_view::npos) malformed("token_expr is not understood");
    const std::string text(rest_.substr(0, end));
    if (text.find('\\') != std::string::npos) malformed("token_expr with escapes is not understood");
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string_view rest_;
};

// --- a vector's words, whatever its profile calls them ---

void add_key(ProfileConfig& config, std::string id, const std::string& hex_text) {
  config.keys.push_back({std::move(id), Secret(bytes_of_hex(hex_text))});
}

std::vector<std::string> strings_at(const Text& vector, std::string_view name) {
  std::vector<std::string> strings;
  const Text* list = find(&vector, name);
  if (list == nullptr) return strings;
  if (!list->is(Text::Kind::array)) malformed("\"" + std::string(name) + "\" is no array");
  for (const Text& element : list->elements) strings.push_back(as_string(element, name));
  return strings;
}

ProfileConfig config_of(const Text& vector) {
  ProfileConfig config;
  if (const Text* ring = find(&vector, {"keyring", "ring"})) {
    for (const Text& key : ring->elements) {
      add_key(config, string_at(&key, "kid").value_or(""), string_at(&key, "key_hex").value_or(""));
    }
    for (const auto& [id, key] : ring->members) add_key(config, id, as_string(key, "ring"));
  } else if (const auto key = string_at(&vector, "key_hex")) {
    add_key(config, "", *key);
  } else {
    for (const std::string& each : strings_at(vector, "keys_hex")) add_key(config, "", each);
  }
  config.rs1_fallbacks = strings_at(vector, "rs1_fallbacks");
  config.rs1_signing = string_at(&vector, "rs1_signing");
  return config;
}

// As many milliseconds as it says, to the last one where it is an integer; of those beyond 64 bits, the nearest that is not.
std::int64_t milliseconds_of(const Text& value, std::string_view name) {
  const double number = as_number(value, name);
  std::int64_t exact = 0;
  const char* end = value.value.data() + value.value.size();
  const auto read = std::from_chars(value.value.data(), end, exact);
  if (read.ec == std::errc() && read.ptr == end) return exact;
  return Duration::of_seconds(number / 1000).milliseconds();
}

std::optional<Duration> time_of(const Text* object) {
  if (const Text* now = find(object, "now")) return Duration::of_seconds(as_number(*now, "now"));
  if (const Text* now = find(object, "now_ms")) {
    return Duration(std::chrono::milliseconds(milliseconds_of(*now, "now_ms")));
  }
  return std::nullopt;
}

std::optional<std::string> principal_of(const Text& vector, const Text* binding) {
  const Text* token = find(binding, "access_token");
  if (token == nullptr) return string_at(&vector, "principal");
  Text triple;
  triple.kind = Text::Kind::array;
  for (const std::string_view name : {"client_id", "iss", "sub"}) {
    const Text* member = token->find(name);
    triple.elements.push_back(member == nullptr ? Text() : *member);
  }
  return python_json(triple, Sort::no, Ascii::only);
}

std::optional<std::string> bound_of(const Text& vector, const Text* binding) {
  if (const Text* hex_text = find(&vector, {"associated_data_hex", "ad_hex"})) {
    return text_of(bytes_of_hex(as_string(*hex_text, "associated data")));
  }
  if (!bool_at(binding, "configured")) return std::nullopt;
  return string_at(binding, "value").value_or("");
}

Context context_of(const Text& vector) {
  Context context;
  const Text* binding = find(&vector, "binding");
  const Text* request = binding != nullptr ? binding : &vector;
  context.method = string_at(request, "method").value_or("");
  if (const auto raw = string_at(request, "params_raw")) {
    context.params = *raw;
  } else if (const Text* params = find(request, "params")) {
    context.params = python_json(*params, Sort::no, Ascii::only);
  }
  if (const Text* audience = find(binding, {"audience", "default_audience"})) {
    context.audience = as_string(*audience, "audience");
  } else {
    context.audience = string_at(&vector, "server");
  }
  context.principal = principal_of(vector, binding);
  context.protocol_version = string_at(&vector, "version").value_or("");
  context.bound = bound_of(vector, binding);
  context.now = time_of(&vector).value_or(Duration());
  return context;
}

bool same_json(const Text& a, const Text& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Text::Kind::null:
      return true;
    case Text::Kind::boolean:
    case Text::Kind::string:
      return a.value == b.value;
    case Text::Kind::number:
      return double_of(a) == double_of(b);
    case Text::Kind::array:
      return std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                        same_json);
    case Text::Kind::object:
      break;
  }
  return a.members.size() == b.members.size() &&
         std::all_of(a.members.begin(), a.members.end(), [&](const auto& member) {
           const Text* other = b.find(member.name);
           return other != nullptr && same_json(member.value, *other);
         });
}

// Whether the profile's states are JSON values, of which a vector gives one.
bool has_json_states(std::string_view profile) {
  return profile == "typescript-sdk-v1" || profile == "conduit-mcp-0.11";
}

// The state that an `expect` or a `seal` names: as bytes, or as JSON text.
std::optional<std::string> state_of(const Text& object, std::string_view profile) {
  if (const Text* hex_text = find(&object, {"plaintext_hex", "payload_hex", "state_hex"})) {
    return text_of(bytes_of_hex(as_string(*hex_text, "state")));
  }
  const Text* state = object.find(object.find("payload") != nullptr ? "payload" : "state");
  if (state == nullptr) return std::nullopt;
  if (has_json_states(profile)) return python_json(*state, Sort::no, Ascii::only);
  return as_string(*state, "state");
}

bool same_state(std::string_view profile, std::string_view a, std::string_view b) {
  if (!has_json_states(profile)) return a == b;
  const std::optional<Text> first = read_text(a, Dialect::javascript, file_depth_max);
  const std::optional<Text> second = read_text(b, Dialect::javascript, file_depth_max);
  return first && second && same_json(*first, *second);
}

// Gives the nonce and the salt of a vector, told apart by their sizes.
class GivenEntropy final : public Entropy {
 public:
  GivenEntropy(Bytes nonce, Bytes salt) : nonce_(std::move(nonce)), salt_(std::move(salt)) {}
  void fill(std::span<std::uint8_t> out) override {
    const Bytes& given = out.size() == nonce_.size() ? nonce_ : salt_;
    if (given.size() != out.size())
      malformed("the seal block lacks a nonce or a salt, or one has another size");
    std::copy(given.begin(), given.end(), out.begin());
  }

 private:
  Bytes nonce_;
  Bytes salt_;
};

struct ReasonWords {
  std::string_view words;
  std::set<Refusal> reasons;
};
const std::vector<ReasonWords>& reason_words() {
  using enum Refusal;
  static const std::vector<ReasonWords> all = {
      {"StateUnknownKey", {unknown_key}},
      {"StateInvalid", {malformed, not_authentic}},
      {"request binding", {other_method, other_target, other_arguments}},
      {"audience", {other_audience}},
      {"principal", {other_principal}},
      {"principal drift", {other_principal}},
      {"expired", {expired}},
      {"minted in the future", {issued_in_future}},
      {"unknown key", {unknown_key}},
      {"seal", {not_authentic}},
      {"malformed", {Refusal::malformed}},
      {"malformed token", {Refusal::malformed}},
      {"authentication failed", {not_authentic}},
      {"malformed claims", {Refusal::malformed}},
      {"unsupported version", {Refusal::malformed}},
      {"method mismatch", {other_method}},
      {"target mismatch", {other_target}},
      {"arguments mismatch", {other_arguments}},
      {"audience mismatch", {other_audience}},
      {"missing state", {Refusal::malformed}},
      {"mac", {not_authentic}},
      {"bind", {other_arguments}},
      {"MalformedFormat", {Refusal::malformed}},
      {"InvalidEncoding", {Refusal::malformed}},
      {"InvalidKeyId", {Refusal::malformed}},
      {"IntegrityCheckFailed", {not_authentic}},
      {"Expired", {expired}},
      {"UnknownKeyId", {unknown_key}},
  };
  return all;
}

// Whether our reason is one that the original's words stand for; words we do not know stand for any.
bool is_said(Refusal reason, std::string_view words) {
  for (const ReasonWords& one : reason_words()) {
    if (one.words == words) return one.reasons.contains(reason);
  }
  return true;
}

// One vector, tried. What differs is added to the report.
class Trial {
 public:
  Trial(std::string profile, const Text& vector, VectorReport& report)
      : profile_(std::move(profile)), vector_(vector), report_(report) {
    id_ = string_at(&vector, "id").value_or("");
    if (id_.empty()) malformed("a vector has no id");
  }

  void run() {
    const Text* seal_block = find(&vector_, "seal");
    const bool opens = seal_block == nullptr || find(&vector_, {"expect", "token", "token_expr"}) != nullptr;
    const std::string op = string_at(&vector_, "op").value_or(opens ? "open" : "seal");
    if (op != "open" && op != "seal") malformed(id_ + ": an op that is neither open nor seal");
    if (op == "open") open();
    if (op == "seal" && seal_block == nullptr)
      seal_block = &vector_;  // what is to be sealed stands beside the rest
    if (seal_block != nullptr) seal(*seal_block);
    if (!differs_ && !stricter_) ++report_.passed;
    if (differs_) ++report_.failed;
  }

 private:
  void differ(const std::string& what) {
    report_.differences.push_back(profile_ + " " + id_ + ": " + what);
    differs_ = true;
  }

  // The token to open; nothing where it is none, being no string.
  std::optional<std::string> shown_token() const {
    if (auto token = token_in(&vector_)) return token;
    if (vector_.find("token") == nullptr) malformed(id_ + ": there is no token");
    return std::nullopt;
  }

  // The token that sealing should make: in the seal block, in what is expected, or the one that is to be opened.
  std::string sealed_token(const Text& block) const {
    for (const Text* place :
         {&block, find(&block, {"expect", "expected"}), find(&vector_, {"expect", "expected"}), &vector_}) {
      if (place != nullptr && place->is(Text::Kind::string)) return place->value;
      if (auto token = token_in(place)) return *token;
    }
    malformed(id_ + ": there is no token that sealing should make");
  }

  static std::optional<std::string> token_in(const Text* place) {
    if (const auto expression = string_at(place, "token_expr")) return TokenExpression(*expression).value();
    const Text* token = find(place, {"token", "expected_token", "sealed"});
    if (token == nullptr || !token->is(Text::Kind::string)) return std::nullopt;
    return token->value;
  }

  void open() {
    const Text* expect = find(&vector_, "expect");
    if (expect == nullptr || find(expect, "ok") == nullptr) malformed(id_ + ": nothing is expected");
    const bool should_open = bool_at(expect, "ok");
    const std::optional<std::string> shown = shown_token();
    if (!shown) {  // what is no string never reaches a format; null is no state at all
      const bool absent = vector_.find("token")->is(Text::Kind::null);
      if (should_open && !absent) differ("what is no string was expected to open");
      return;
    }
    const Context context = context_of(vector_);
    const auto profile = make_profile(profile_, config_of(vector_));
    if (!profile) {
      if (should_open) differ("the keys are refused: " + profile.error().message);
      return;
    }
    const auto opened = (*profile)->open(*shown, context);
    if (opened.ok()) return opened_as(*opened, should_open, *expect);
    refused_as(opened.error(), should_open, *expect);
  }

  void opened_as(const ProfileOpened& opened, bool should_open, const Text& expect) {
    if (!should_open) return differ("opens, and should be refused: " + reason_in(expect));
    const auto expected = state_of(expect, profile_);
    if (!expected) malformed(id_ + ": no state is expected");
    if (!same_state(profile_, as_text(opened.state), *expected)) differ("opens to another state");
  }

  void refused_as(const ProfileRefused& refused, bool should_open, const Text& expect) {
    const std::string reason(to_string(refused.reason));
    if (should_open && !refused.stricter.empty()) {
      report_.stricter.push_back(profile_ + " " + id_ + ": " + std::string(refused.stricter));
      stricter_ = true;
    } else if (should_open) {
      differ("is refused as " + reason + ", and should open");
    } else if (!is_said(refused.reason, reason_in(expect))) {
      report_.other_reasons.push_back(profile_ + " " + id_ + ": refused as " + reason + ", there as " +
                                      reason_in(expect));
    }
  }

  static std::string reason_in(const Text& expect) {
    return string_at(&expect, "reason").value_or("no reason given");
  }

  void seal(const Text& block) {
    const std::string expected = sealed_token(block);
    Context context = context_of(vector_);
    context.now = time_of(&block).value_or(context.now);
    ProfileConfig config = config_of(vector_);
    put_first(config, string_at(&block, "kid"));
    const auto profile = make_profile(profile_, std::move(config));
    if (!profile) return differ("cannot seal: " + profile.error().message);
    const auto state = state_of(block, profile_);
    if (!state) malformed(id_ + ": the seal block has no state");
    const Text* nonce = find(&block, {"nonce_hex", "iv_hex"});
    GivenEntropy entropy(nonce == nullptr ? Bytes() : bytes_of_hex(as_string(*nonce, "nonce")),
                         bytes_of_hex(string_at(&block, "principal_salt_hex").value_or("")));
    const auto sealed = (*profile)->seal(*state, context, lifetime_of(block, context), entropy);
    if (!sealed) return differ("cannot seal: " + sealed.error().message);
    if (*sealed != expected) differ("seals to other bytes: " + *sealed);
  }

  static void put_first(ProfileConfig& config, const std::optional<std::string>& id) {
    if (!id) return;
    const auto found = std::find_if(config.keys.begin(), config.keys.end(),
                                    [&](const ProfileKey& key) { return key.id == *id; });
    if (found != config.keys.end()) std::rotate(config.keys.begin(), found, found + 1);
  }

  std::optional<Duration> lifetime_of(const Text& block, const Context& context) const {
    const auto milliseconds = [](std::int64_t count) { return Duration(std::chrono::milliseconds(count)); };
    if (const Text* ttl = find(&block, "ttl_ms")) return milliseconds(milliseconds_of(*ttl, "ttl_ms"));
    if (const Text* ttl = find(&block, "ttl")) return Duration::of_seconds(as_number(*ttl, "ttl"));
    if (const Text* expiry = find(&block, "expiry_ms")) {
      const std::int64_t at = milliseconds_of(*expiry, "expiry_ms");
      if (at == 0) return std::nullopt;
      const std::int64_t now =
          std::max(context.now.milliseconds(), -std::numeric_limits<std::int64_t>::max());
      return milliseconds(saturating_sum(at, -now));
    }
    if (const Text* ttl = find(&vector_, "ttl")) return Duration::of_seconds(as_number(*ttl, "ttl"));
    return std::nullopt;
  }

  std::string profile_;
  std::string id_;
  const Text& vector_;
  VectorReport& report_;
  bool differs_ = false;
  bool stricter_ = false;
};

// What is no vector counts as one that failed.
void add_malformed(const std::string& what, VectorReport& report) {
  report.malformed.push_back(what);
  ++report.failed;
}

// `each` for every element of the array; what is malformed in one leaves the others.
template <typename Each>
void for_each(const std::string& name, const Text& array, VectorReport& report, Each each) {
  if (!array.is(Text::Kind::array)) return add_malformed(name + ": the vectors are no array", report);
  for (std::size_t i = 0; i < array.elements.size(); ++i) {
    try {
      each(expanded(array.elements[i]));
    } catch (const MalformedVector& problem) {
      add_malformed(name + ", vector " + std::to_string(i + 1) + ": " + problem.what(), report);
    }
  }
}

// --- digests of arguments ---

using DigestFunction = std::optional<ArgumentsDigest> (*)(std::string_view);

constexpr std::string_view no_digest = "has no digest here";

// Why there is no digest here where the original has one; empty where that is a fault.
std::string_view why_no_digest(std::string_view system, const std::string& arguments) {
  if (system == "python" && is_deeper(arguments, script_depth_max)) return "arguments are at most 900 deep";
  // Ruby makes another character of it, or forgets the one that is overwritten.
  const bool lone = system == "ruby" && read_text(arguments, Dialect::javascript, ruby_depth_max - 1);
  return lone ? "a lone surrogate has no digest" : "";
}

// As much of it as a reader looks at.
std::string beginning_of(const std::string& arguments) {
  constexpr std::size_t shown_bytes_max = 200;
  return arguments.size() <= shown_bytes_max ? arguments : arguments.substr(0, shown_bytes_max) + "...";
}

// Empty where it is as expected.
std::string digest_difference(const std::string& arguments, const Text& expected, DigestFunction digest) {
  const std::optional<ArgumentsDigest> ours = digest(arguments);
  if (find(&expected, "error") != nullptr) return ours ? "has a digest, and the original raises" : "";
  if (!ours) return std::string(no_digest);
  const Text* value = find(&expected, {"a", "digest"});
  if (value == nullptr) malformed("a digest is missing");
  if (const auto canonical = string_at(&expected, "canonical"); canonical && ours->canonical != *canonical) {
    return "is written " + ours->canonical;
  }
  return ours->digest == as_string(*value, "digest") ? "" : "has another digest";
}

void try_digest_case(const Text& one, VectorReport& report) {
  const std::string arguments = as_string(*one.find("arguments_raw"), "arguments_raw");
  bool differs = false;
  bool stricter = false;
  const std::array<std::pair<std::string_view, DigestFunction>, 2> systems = {
      {{"python", python_arguments_digest}, {"ruby", ruby_arguments_digest}}};
  for (const auto& [system, digest] : systems) {
    const Text* expected = find(&one, system);
    if (expected == nullptr) continue;
    const std::string what = digest_difference(arguments, *expected, digest);
    if (what.empty()) continue;
    const std::string_view why = what == no_digest ? why_no_digest(system, arguments) : "";
    const bool refused = !why.empty();
    const std::string line = "argument-digests " + std::string(system) + " " + beginning_of(arguments) + ": ";
    (refused ? report.stricter : report.differences).push_back(line + (refused ? std::string(why) : what));
    stricter = stricter || refused;
    differs = differs || !refused;
  }
  if (differs) ++report.failed;
  if (!differs && !stricter) ++report.passed;
}

// The digests that a file of tokens lists beside them; counted only where they differ.
void try_listed_digests(const std::string& name, const Text& file, VectorReport& report) {
  const Text* listed = find(find(&file, "definitions"), "digest_vectors");
  if (listed == nullptr) return;
  for_each(name + ", digest_vectors", *listed, report, [&](const Text& one) {
    const std::string arguments = string_at(&one, "arguments_raw").value_or("");
    const std::string what = digest_difference(arguments, one, ruby_arguments_digest);
    if (what.empty()) return;
    report.differences.push_back("digest_vectors " + beginning_of(arguments) + ": " + what);
    ++report.failed;
  });
}

// The text of a regular file, or why there is none. Nothing else is opened: a pipe would wait for its other end.
Result<std::string> text_of_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error) return failure("cannot be read: " + error.message());
  if (!std::filesystem::is_regular_file(status)) return failure("is no regular file");
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 65536> piece;
  while (file) {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > file_bytes_max) return failure("is larger than 64 MiB");
  }
  if (!file.eof()) return failure("cannot be read");
  return text;
}

void try_vector_file(const std::string& path, VectorReport& report) {
  const Result<std::string> text = text_of_file(path);
  if (!text) return add_malformed(path + ": " + text.error().message, report);
  try_vectors(path, *text, report);
}

}  // namespace

void try_vectors(const std::string& name, const std::string& json, VectorReport& report) {
  const std::optional<Text> file = read_text(json, Dialect::python, file_depth_max);
  if (!file || !file->is(Text::Kind::object)) {
    return add_malformed(name + ": is no JSON object", report);
  }
  try_listed_digests(name, *file, report);
  if (const Text* cases = file->find("cases")) {
    return for_each(name, *cases, report, [&](const Text& one) {
      if (one.find_string("arguments_raw") == nullptr) malformed("there is no arguments_raw");
      try_digest_case(one, report);
    });
  }
  const std::string* profile = file->find_string("profile");
  const std::vector<std::string_view> names = profile_names();
  if (profile == nullptr || std::find(names.begin(), names.end(), *profile) == names.end()) {
    return add_malformed(name + ": names no profile that is built in", report);
  }
  const Text* vectors = file->find("vectors");
  if (vectors == nullptr) return add_malformed(name + ": has no vectors", report);
  for_each(name, *vectors, report, [&](const Text& vector) { Trial(*profile, vector, report).run(); });
}

void try_vector_files(const std::string& path, VectorReport& report) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return try_vector_file(path, report);
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  }
  if (error) return add_malformed(path + ": cannot be read: " + error.message(), report);
  if (files.empty()) return add_malformed(path + ": holds no vector files", report);
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) try_vector_file(file.string(), report);
}

}  // namespace signet::token::profiles
