#include <signet/server/kept_reply.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <signet/json/text.h>
#include <signet/protocol/errors.h>
#include <signet/protocol/jsonrpc.h>
#include <signet/server/own_json.h>

namespace signet::detail {

namespace {

constexpr std::string_view magic = "signet reply 1\n";

// Whose reply the bytes are: they begin with this.
Bytes heading(const token::Claim& claim) {
  Bytes bytes;
  bytes.reserve(magic.size() + claim.token.size() + claim.answers.size());
  bytes.insert(bytes.end(), magic.begin(), magic.end());
  bytes.insert(bytes.end(), claim.token.begin(), claim.token.end());
  bytes.insert(bytes.end(), claim.answers.begin(), claim.answers.end());
  return bytes;
}

}  // namespace

Digest digest_of_retry(const token::Binding& binding, const Json::Object& responses) {
  const std::array<std::uint8_t, 1> kind = {static_cast<std::uint8_t>(binding.principal.kind)};
  return sha256({as_bytes("signet retry\n"), kind, sha256(as_bytes(binding.principal.id)),
                 sha256(as_bytes(binding.method)), sha256(as_bytes(binding.target)),
                 sha256(as_bytes(binding.audience)), binding.arguments,
                 sha256(as_bytes(json::canonical(Json(responses))))});
}

// {"result": ...} or {"error": {...}}, behind whose it is.
Bytes encode_reply(const token::Claim& claim, const Reply& reply) {
  Json kept;
  kept.set(reply.ok() ? "result" : "error", reply.ok() ? *reply : protocol::to_json(reply.error()));
  Bytes bytes = heading(claim);
  const std::string text = json::write(kept);
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

std::optional<Reply> decode_reply(const token::Claim& claim, ByteView bytes) {
  const Bytes whose = heading(claim);
  if (bytes.size() < whose.size() || !std::equal(whose.begin(), whose.end(), bytes.begin()))
    return std::nullopt;
  std::optional<Json> kept = read_own_json(as_text(bytes.subspan(whose.size())));
  if (!kept) return std::nullopt;
  if (Json* result = kept->find("result")) return Reply(std::move(*result));
  const Json* error = kept->find("error");
  const Json* code = error == nullptr ? nullptr : error->find("code");
  const std::string* message = error == nullptr ? nullptr : error->find_string("message");
  if (code == nullptr || message == nullptr) return std::nullopt;
  const Json* data = error->find("data");
  return Reply(failure(Fault(static_cast<int>(code->as_int64().value_or(protocol::internal_error)), *message,
                             data == nullptr ? Json() : *data)));
}

}  // namespace signet::detail
