// JSON that this program wrote itself, and that nobody else could have written.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <signet/json/text.h>

namespace signet::detail {

// Whatever its size: it was within the limits when it came, or when it was sent.
inline std::optional<Json> read_own_json(std::string_view text) {
  json::Limits limits;
  limits.bytes_max = limits.values_max = SIZE_MAX;
  limits.depth_max = 1024;
  Result<Json, json::ParseError> value = json::parse(text, limits);
  return value.ok() ? std::optional<Json>(std::move(*value)) : std::nullopt;
}

}  // namespace signet::detail
