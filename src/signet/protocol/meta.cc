#include <signet/protocol/meta.h>

#include <algorithm>
#include <array>
#include <vector>

#include <signet/protocol/capabilities.h>
#include <signet/protocol/errors.h>

namespace signet::protocol {
namespace {

constexpr std::array<std::string_view, 8> log_levels{"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

// ASCII only, whatever the locale.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

bool is_label(std::string_view label) {
  if (label.empty() || !is_letter(label.front()) || !is_alphanumeric(label.back())) return false;
  return std::ranges::all_of(label, [](char c) { return is_alphanumeric(c) || c == '-'; });
}

bool is_prefix(std::string_view prefix) {
  while (true) {
    const std::size_t dot = prefix.find('.');
    if (!is_label(prefix.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    prefix.remove_prefix(dot + 1);
  }
}

bool is_name(std::string_view name) {
  if (name.empty()) return true;
  if (!is_alphanumeric(name.front()) || !is_alphanumeric(name.back())) return false;
  return std::ranges::all_of(name,
                             [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_implementation(const Json& value) {
  return value.find_string("name") != nullptr && value.find_string("version") != nullptr;
}

// Collects what is wrong with an envelope, so that one answer names it all.
class Complaint {
 public:
  void missing(std::string_view key) { missing_.push_back(key); }
  void malformed(std::string_view key) { malformed_.push_back(key); }
  bool empty() const { return missing_.empty() && malformed_.empty(); }

  Fault fault() const {
    std::string sentence = "Invalid _meta:";
    Json data = Json::object();
    add(sentence, data, "missing", missing_);
    add(sentence, data, "malformed", malformed_);
    sentence.pop_back();
    Fault fault(invalid_params, std::move(sentence), std::move(data));
    fault.stage = Fault::Stage::envelope;
    return fault;
  }

 private:
  static void add(std::string& sentence, Json& data, std::string_view word,
                  const std::vector<std::string_view>& keys) {
    if (keys.empty()) return;
    sentence.append(" ").append(word);
    Json list = Json::array();
    for (const std::string_view key : keys) {
      sentence.append(" ").append(key).append(",");
      list.push_back(key);
    }
    data.set(std::string(word), std::move(list));
  }

  std::vector<std::string_view> missing_;
  std::vector<std::string_view> malformed_;
};

}  // namespace

bool claims_modern(const Json& params) {
  const Json* found = params.find(meta::member);
  return found != nullptr && found->contains(meta::protocol_version);
}

Result<Envelope, Fault> read_envelope(const Json& params) {
  static const Json nothing;
  const Json* found = params.find(meta::member);
  const Json& fields = found != nullptr ? *found : nothing;
  Envelope envelope;
  Complaint complaint;

  if (const Json* version = fields.find(meta::protocol_version); version == nullptr) {
    complaint.missing(meta::protocol_version);
  } else if (version->as_string() == nullptr) {
    complaint.malformed(meta::protocol_version);
  } else {
    envelope.protocol_version = *version->as_string();
  }
  if (const Json* capabilities = fields.find(meta::client_capabilities); capabilities == nullptr) {
    complaint.missing(meta::client_capabilities);
  } else if (!is_capabilities(*capabilities)) {
    complaint.malformed(meta::client_capabilities);
  } else {
    envelope.client_capabilities = *capabilities;
  }
  if (const Json* info = fields.find(meta::client_info)) {
    if (!is_implementation(*info)) complaint.malformed(meta::client_info);
    envelope.client_info = *info;
  }
  if (const Json* level = fields.find(meta::log_level)) {
    const std::string* word = level->as_string();
    if (word == nullptr || !log_level_rank(*word).has_value()) {
      complaint.malformed(meta::log_level);
    } else {
      envelope.log_level = *word;
    }
  }
  if (const Json* token = fields.find(meta::progress_token)) {
    if (!token->is_string() && !token->is_integer()) complaint.malformed(meta::progress_token);
  }
  if (!complaint.empty()) return failure(complaint.fault());
  return envelope;
}

Json with_envelope(Json params, const Envelope& envelope) {
  Json fields = Json::object();
  if (const Json* given = params.find(meta::member); given != nullptr && given->is_object()) fields = *given;
  fields.set(std::string(meta::protocol_version), envelope.protocol_version);
  if (!envelope.client_info.is_null()) fields.set(std::string(meta::client_info), envelope.client_info);
  fields.set(std::string(meta::client_capabilities),
             envelope.client_capabilities.is_object() ? envelope.client_capabilities : Json::object());
  if (envelope.log_level) fields.set(std::string(meta::log_level), *envelope.log_level);
  params.set(std::string(meta::member), std::move(fields));
  return params;
}

const Json* progress_token(const Json& params) {
  const Json* fields = params.find(meta::member);
  const Json* token = fields != nullptr ? fields->find(meta::progress_token) : nullptr;
  return token != nullptr && (token->is_string() || token->is_integer()) ? token : nullptr;
}

std::optional<int> log_level_rank(std::string_view level) {
  const auto* found = std::ranges::find(log_levels, level);
  if (found == log_levels.end()) return std::nullopt;
  return static_cast<int>(found - log_levels.begin());
}

bool is_meta_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return is_name(key);
  return is_prefix(key.substr(0, slash)) && is_name(key.substr(slash + 1));
}

bool is_extension_id(std::string_view id) {
  const std::size_t slash = id.find('/');
  return slash != std::string_view::npos && slash + 1 < id.size() && is_meta_key(id);
}

}  // namespace signet::protocol
