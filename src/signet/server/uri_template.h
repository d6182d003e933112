// Templates of resource URIs (RFC 6570, level 1, and `{+name}`), read backwards: from a URI to the variables; and what a
// resource's URI is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>
#include <signet/json/value.h>

namespace signet::detail {

// Whether values may be what leads out of a folder when it is taken for a path.
enum class Climbing : std::uint8_t { refused, allowed };

class UriTemplate {
 public:
  // At most 16 variables, each of [A-Za-z0-9_], none twice. With values in their places it is an absolute URI.
  static Result<UriTemplate> parse(std::string_view text);

  // An object of the variables, percent-decoded, none empty; or nothing where the URI does not fit, has a broken
  // percent sequence, or decodes to what is no UTF-8. Time is at most the product of both lengths.
  //
  // Unless it is allowed, no value climbs (S71): none has a segment `.` or `..` between slashes or backslashes, a NUL, or
  // begins with a slash where the template has one already; `{name}` does not begin with one at all.
  std::optional<Json> match(std::string_view uri, Climbing climbing = Climbing::refused) const;

  bool has_variable(std::string_view name) const;
  // In the order of the template. The names live as long as this.
  std::vector<std::string_view> variables() const;

 private:
  struct Piece {
    explicit Piece(std::string piece_text) : text(std::move(piece_text)) {}
    std::string text;  // the literal, or the variable's name
    bool variable = false;
    bool reserved = false;  // {+name}: slashes too
    bool at_root = false;   // a slash before it would be a second one
  };
  class Matching;

  std::vector<Piece> pieces_;
};

// Of a URI that a client names. RFC 9110 asks HTTP for 8000 at least.
inline constexpr std::size_t uri_bytes_max = 8192;

// Whether the text is a URI with a scheme and more, of RFC 3986 (S68, S71).
bool is_absolute_uri(std::string_view text);

}  // namespace signet::detail
