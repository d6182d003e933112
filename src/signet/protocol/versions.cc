#include <signet/protocol/versions.h>

#include <algorithm>

#include <signet/protocol/errors.h>

namespace signet::protocol {
namespace {

bool is_date(std::string_view text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : (text[i] < '0' || text[i] > '9')) return false;
  }
  return true;
}

}  // namespace

bool is_modern_version(std::string_view version) {
  return std::ranges::find(modern_versions, version) != modern_versions.end();
}

bool is_handshake_version(std::string_view version) {
  return std::ranges::find(handshake_versions, version) != handshake_versions.end();
}

bool names_modern_era(std::string_view version) { return is_date(version) && version >= version_2026_07_28; }

std::string_view negotiate_handshake(std::string_view requested) {
  const auto* found = std::ranges::find(handshake_versions, requested);
  return found != handshake_versions.end() ? *found : handshake_versions.front();
}

Fault unsupported_version_fault(std::string_view requested) {
  Json supported = Json::array();
  for (const std::string_view version : modern_versions) supported.push_back(version);
  Json data = Json::object({{"supported", std::move(supported)}, {"requested", requested}});
  Fault fault(unsupported_version, "Unsupported protocol version", std::move(data));
  fault.stage = Fault::Stage::envelope;
  return fault;
}

}  // namespace signet::protocol
