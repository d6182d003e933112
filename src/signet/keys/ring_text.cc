#include <signet/keys/ring_text.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include <signet/json/text.h>
#include <signet/keys/time_text.h>
#include <signet/token/base64url.h>

namespace signet::keys {
namespace {

using token::KeyEntry;
using token::KeyStage;

constexpr std::int64_t format_version = 1;
constexpr std::size_t secret_characters = token::base64url_size(token::key_bytes);
constexpr std::size_t entry_characters_max = 256;

std::optional<KeyStage> stage_of(std::string_view text) {
  for (const KeyStage stage : {KeyStage::accept, KeyStage::seal, KeyStage::retire}) {
    if (text == token::to_string(stage)) return stage;
  }
  return std::nullopt;
}

// The decoded secret; the text it came from is wiped.
std::optional<Secret> take_secret(Json* value) {
  std::string* text = value != nullptr ? value->as_string() : nullptr;
  if (text == nullptr) return std::nullopt;
  std::optional<Bytes> bytes;
  if (text->size() == secret_characters) bytes = token::decode_base64url(*text);
  wipe({reinterpret_cast<std::uint8_t*>(text->data()), text->size()});
  if (!bytes) return std::nullopt;
  return Secret(std::move(*bytes));
}

// A time that may be absent: nothing, or a time, or a fault.
Result<std::optional<Timestamp>> time_of(const Json& key, std::string_view name) {
  const Json* value = key.find(name);
  if (value == nullptr) return std::optional<Timestamp>();
  const std::string* text = value->as_string();
  const std::optional<Timestamp> time = text != nullptr ? parse_time(*text) : std::nullopt;
  if (!time) return failure(std::string(name) + " is no time like 2026-11-29T12:00:00Z");
  return time;
}

bool has_only(const Json::Object& object, std::initializer_list<std::string_view> names) {
  std::size_t known = 0;
  for (const std::string_view name : names) known += object.contains(name) ? 1 : 0;
  return known == object.size();
}

Result<KeyEntry> parse_key(Json& key) {
  const Json::Object* object = key.as_object();
  const std::string* id = key.find_string("id");
  if (object == nullptr || id == nullptr) return failure("a key is no object with an id");
  if (!token::is_key_id(*id)) return failure("a key id is not 1 to 32 characters of A-Z a-z 0-9 _ -");
  const std::string where = "key " + *id + ": ";
  if (!has_only(*object, {"id", "secret", "stage", "since", "retires_at"})) {
    return failure(where + "a member other than id, secret, stage, since and retires_at");
  }
  KeyEntry entry;
  entry.id = *id;
  std::optional<Secret> secret = take_secret(key.find("secret"));
  if (!secret) return failure(where + "the secret is not the base64url of 32 bytes");
  entry.secret = std::move(*secret);
  const std::string* stage_text = key.find_string("stage");
  const std::optional<KeyStage> stage = stage_text != nullptr ? stage_of(*stage_text) : std::nullopt;
  if (!stage) return failure(where + "the stage is not accept, seal or retire");
  entry.stage = *stage;
  Result<std::optional<Timestamp>> since = time_of(key, "since");
  if (!since) return failure(where + since.error().message);
  entry.since = *since;
  Result<std::optional<Timestamp>> retires_at = time_of(key, "retires_at");
  if (!retires_at) return failure(where + retires_at.error().message);
  entry.retires_at = *retires_at;
  return entry;
}

Result<std::vector<KeyEntry>> parse_keys(Json& ring) {
  const Json::Object* object = ring.as_object();
  if (object == nullptr || !has_only(*object, {"version", "keys"})) {
    return failure("the ring is no object with version and keys alone");
  }
  const Json* version = ring.find("version");
  if (version == nullptr || version->as_int64() != format_version)
    return failure("the ring's version is not 1");
  Json* keys = ring.find("keys");
  JsonArray* elements = keys != nullptr ? keys->as_array() : nullptr;
  if (elements == nullptr) return failure("the ring's keys are no array");
  std::vector<KeyEntry> entries;
  for (Json& key : *elements) {
    Result<KeyEntry> entry = parse_key(key);
    if (!entry) return failure(std::move(entry).error());
    entries.push_back(std::move(*entry));
  }
  return entries;
}

// Secrets of keys that were not reached because an earlier one was at fault.
void wipe_strings(Json& value) {
  if (std::string* text = value.as_string())
    wipe({reinterpret_cast<std::uint8_t*>(text->data()), text->size()});
  if (JsonArray* elements = value.as_array()) {
    for (Json& element : *elements) wipe_strings(element);
  }
  if (Json::Object* members = value.as_object()) {
    for (JsonMember& member : *members) wipe_strings(member.second);
  }
}

void append(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }

// Ids, stages, times and base64url need no escapes.
void append_member(Bytes& out, std::string_view name, std::string_view value) {
  append(out, "\"");
  append(out, name);
  append(out, "\": \"");
  append(out, value);
  append(out, "\"");
}

}  // namespace

Result<std::vector<KeyEntry>> parse_ring(std::string_view text) {
  json::Limits limits;
  limits.bytes_max = ring_bytes_max;
  limits.depth_max = 4;
  Result<Json, json::ParseError> ring = json::parse(text, limits);
  if (!ring) return failure("the ring is no JSON: " + json::describe(ring.error()));
  Result<std::vector<KeyEntry>> entries = parse_keys(*ring);
  wipe_strings(*ring);
  return entries;
}

Secret write_ring(const std::vector<KeyEntry>& entries) {
  Bytes out;
  // Enough, so that the secrets are never copied to a larger place and left behind in the smaller one.
  out.reserve(entry_characters_max * (entries.size() + 1));
  append(out, "{\"version\": 1, \"keys\": [");
  std::string_view separator = "\n  {";
  for (const KeyEntry& entry : entries) {
    append(out, std::exchange(separator, ",\n  {"));
    append_member(out, "id", entry.id);
    append(out, ", ");
    std::array<char, secret_characters> secret;
    token::encode_base64url(entry.secret.expose(), secret.data());
    append_member(out, "secret", std::string_view(secret.data(), secret.size()));
    wipe({reinterpret_cast<std::uint8_t*>(secret.data()), secret.size()});
    append(out, ", ");
    append_member(out, "stage", token::to_string(entry.stage));
    if (entry.since) {
      append(out, ", ");
      append_member(out, "since", to_text(*entry.since));
    }
    if (entry.retires_at) {
      append(out, ", ");
      append_member(out, "retires_at", to_text(*entry.retires_at));
    }
    append(out, "}");
  }
  append(out, "\n]}\n");
  return Secret(std::move(out));
}

std::vector<KeyEntry> entries_of(const token::KeyRing& ring) {
  std::vector<KeyEntry> entries;
  for (const token::RingKey& key : ring.keys()) {
    KeyEntry entry;
    entry.id = key.id();
    entry.secret = key.secret().clone();
    entry.stage = key.stage();
    entry.since = key.since();
    entry.retires_at = key.retires_at();
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace signet::keys
