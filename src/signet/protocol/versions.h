// The revisions of the specification that Signet speaks.
#pragma once

#include <array>
#include <string_view>

#include <signet/protocol/service.h>

namespace signet::protocol {

inline constexpr std::string_view version_2026_07_28 = "2026-07-28";
inline constexpr std::string_view version_2025_11_25 = "2025-11-25";
inline constexpr std::string_view version_2025_06_18 = "2025-06-18";
inline constexpr std::string_view version_2025_03_26 = "2025-03-26";
inline constexpr std::string_view version_2024_11_05 = "2024-11-05";

// Newest first. Modern revisions carry everything in each request; handshake revisions begin with `initialize`.
inline constexpr std::array modern_versions{version_2026_07_28};
inline constexpr std::array handshake_versions{version_2025_11_25, version_2025_06_18, version_2025_03_26,
                                               version_2024_11_05};

bool is_modern_version(std::string_view version);
bool is_handshake_version(std::string_view version);

// True of a date (YYYY-MM-DD) from 2026-07-28 on, whether or not we speak it.
bool names_modern_era(std::string_view version);

// What `initialize` answers: the version asked for if it is a handshake version we speak, else the newest.
std::string_view negotiate_handshake(std::string_view requested);

// -32022 with `supported` (modern revisions only) and `requested` (S12).
Fault unsupported_version_fault(std::string_view requested);

}  // namespace signet::protocol
