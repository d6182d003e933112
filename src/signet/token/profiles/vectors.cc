#include <signet/token/profiles/vectors.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <signet/token/profiles/parts.h>

namespace signet::token::profiles {
namespace {

constexpr std::size_t file_bytes_max = std::size_t{64} << 20;
constexpr int file_depth_max = 1000;
constexpr std::size_t expanded_bytes_max = std::size_t{16} << 20;  // of one repeated string or token

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

// {"repeat": "x", "times": 3} stands for "xxx", wherever it is.
void expand_repeats(Text& value) {
  for (Text& element : value.elements) expand_repeats(element);
  for (auto& member : value.members) expand_repeats(member.value);
  const std::string* unit = value.find_string("repeat");
  const Text* times = value.find("times");
  if (unit == nullptr || times == nullptr || value.members.size() != 2) return;
  const double count = as_number(*times, "times");
  if (count < 0 || count * static_cast<double>(unit->size()) > static_cast<double>(expanded_bytes_max)) {
    malformed("a repeated string is too long");
  }
  std::string text;
  for (double i = 0; i < count; ++i) text += *unit;
  value = Text::of_string(text);
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

std::optional<Instant> time_of(const Text* object) {
  if (const Text* now = find(object, "now")) return instant_of(as_number(*now, "now"));
  if (const Text* now = find(object, "now_ms")) return instant_of(as_number(*now, "now_ms") / 1000);
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
  context.now = time_of(&vector).value_or(Instant());
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
  const std::optional<Text> first = read_text(a, NonFinite::refused, file_depth_max);
  const std::optional<Text> second = read_text(b, NonFinite::refused, file_depth_max);
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
    const std::string op = string_at(&vector_, "op").value_or("open");
    if (op != "open" && op != "seal") malformed(id_ + ": an op that is neither open nor seal");
    if (op == "open") open();
    const Text* seal_block = find(&vector_, "seal");
    if (op == "seal" && seal_block == nullptr) malformed(id_ + ": nothing to seal");
    if (seal_block != nullptr) seal(*seal_block);
    if (!differs_ && !stricter_) ++report_.passed;
    if (differs_) ++report_.failed;
  }

 private:
  void differ(const std::string& what) {
    report_.differences.push_back(profile_ + " " + id_ + ": " + what);
    differs_ = true;
  }

  std::optional<std::string> token() const {
    if (const auto expression = string_at(&vector_, "token_expr"))
      return TokenExpression(*expression).value();
    const Text* token = vector_.find("token");
    if (token == nullptr) malformed(id_ + ": there is no token");
    if (!token->is(Text::Kind::string)) return std::nullopt;
    return token->value;
  }

  void open() {
    const Text* expect = find(&vector_, "expect");
    if (expect == nullptr || find(expect, "ok") == nullptr) malformed(id_ + ": nothing is expected");
    const bool should_open = bool_at(expect, "ok");
    const std::optional<std::string> shown = token();
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
    const std::string expected = string_at(&block, "token").value_or(token().value_or(""));
    if (*sealed != expected) differ("seals to other bytes: " + *sealed);
  }

  static void put_first(ProfileConfig& config, const std::optional<std::string>& id) {
    if (!id) return;
    const auto found = std::find_if(config.keys.begin(), config.keys.end(),
                                    [&](const ProfileKey& key) { return key.id == *id; });
    if (found != config.keys.end()) std::rotate(config.keys.begin(), found, found + 1);
  }

  std::optional<std::chrono::microseconds> lifetime_of(const Text& block, const Context& context) const {
    const auto microseconds = [](double seconds) {
      if (!(std::fabs(seconds) < 1e12)) malformed("a lifetime is too long");
      return std::chrono::microseconds(std::llround(seconds * 1e6));
    };
    if (const Text* ttl = find(&block, "ttl_ms")) return microseconds(as_number(*ttl, "ttl_ms") / 1000);
    if (const Text* ttl = find(&block, "ttl")) return microseconds(as_number(*ttl, "ttl"));
    if (const Text* expiry = find(&block, "expiry_ms")) {
      const double at = as_number(*expiry, "expiry_ms");
      if (at == 0) return std::nullopt;
      return microseconds(at / 1000) - context.now.time_since_epoch();
    }
    if (const Text* ttl = find(&vector_, "ttl")) return microseconds(as_number(*ttl, "ttl"));
    return std::nullopt;
  }

  std::string profile_;
  std::string id_;
  const Text& vector_;
  VectorReport& report_;
  bool differs_ = false;
  bool stricter_ = false;
};

// --- digests of arguments ---

using DigestFunction = std::optional<ArgumentsDigest> (*)(std::string_view);

// Empty where it is as expected.
std::string digest_difference(const std::string& arguments, const Text& expected, DigestFunction digest) {
  const std::optional<ArgumentsDigest> ours = digest(arguments);
  if (find(&expected, "error") != nullptr) return ours ? "has a digest, and the original raises" : "";
  if (!ours) return "has no digest here";
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
  const std::array<std::pair<std::string_view, DigestFunction>, 2> systems = {
      {{"python", python_arguments_digest}, {"ruby", ruby_arguments_digest}}};
  for (const auto& [system, digest] : systems) {
    const Text* expected = find(&one, system);
    if (expected == nullptr) continue;
    const std::string what = digest_difference(arguments, *expected, digest);
    if (what.empty()) continue;
    report.differences.push_back("argument-digests " + std::string(system) + " " + arguments + ": " + what);
    differs = true;
  }
  ++(differs ? report.failed : report.passed);
}

// The digests that a file of tokens lists beside them; counted only where they differ.
void try_listed_digests(const Text& file, VectorReport& report) {
  const Text* listed = find(find(&file, "definitions"), "digest_vectors");
  if (listed == nullptr) return;
  for (const Text& one : listed->elements) {
    const std::string arguments = string_at(&one, "arguments_raw").value_or("");
    const std::string what = digest_difference(arguments, one, ruby_arguments_digest);
    if (what.empty()) continue;
    report.differences.push_back("digest_vectors " + arguments + ": " + what);
    ++report.failed;
  }
}

// `each` for every element of the array; what is malformed in one leaves the others.
template <typename Each>
void for_each(const std::string& name, const Text& array, VectorReport& report, Each each) {
  if (!array.is(Text::Kind::array)) {
    report.malformed.push_back(name + ": the vectors are no array");
    return;
  }
  for (std::size_t i = 0; i < array.elements.size(); ++i) {
    try {
      each(array.elements[i]);
    } catch (const MalformedVector& problem) {
      report.malformed.push_back(name + ", vector " + std::to_string(i + 1) + ": " + problem.what());
    }
  }
}

}  // namespace

void try_vectors(const std::string& name, const std::string& json, VectorReport& report) {
  std::optional<Text> file = read_text(json, NonFinite::accepted, file_depth_max);
  if (!file || !file->is(Text::Kind::object)) {
    report.malformed.push_back(name + ": is no JSON object");
    return;
  }
  try {
    expand_repeats(*file);
    try_listed_digests(*file, report);
  } catch (const MalformedVector& problem) {
    report.malformed.push_back(name + ": " + problem.what());
    return;
  }
  if (const Text* cases = file->find("cases")) {
    return for_each(name, *cases, report, [&](const Text& one) {
      if (one.find_string("arguments_raw") == nullptr) malformed("there is no arguments_raw");
      try_digest_case(one, report);
    });
  }
  const std::string* profile = file->find_string("profile");
  const std::vector<std::string_view> names = profile_names();
  if (profile == nullptr || std::find(names.begin(), names.end(), *profile) == names.end()) {
    report.malformed.push_back(name + ": names no profile that is built in");
    return;
  }
  const Text* vectors = file->find("vectors");
  if (vectors == nullptr) {
    report.malformed.push_back(name + ": has no vectors");
    return;
  }
  for_each(name, *vectors, report, [&](const Text& vector) { Trial(*profile, vector, report).run(); });
}

void try_vector_files(const std::string& path, VectorReport& report) {
  std::error_code error;
  std::vector<std::filesystem::path> files = {path};
  if (std::filesystem::is_directory(path, error)) {
    files.clear();
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) report.malformed.push_back(path + ": holds no vector files");
  }
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const auto size = std::filesystem::file_size(file, error);
    if (!in || error || size > file_bytes_max) {
      report.malformed.push_back(file.string() + ": cannot be read, or is too large");
      continue;
    }
    const std::string json((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    try_vectors(file.string(), json, report);
  }
}

}  // namespace signet::token::profiles
