// Templates of resource URIs (RFC 6570, level 1, and `{+name}`), read backwards: from a URI to the variables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <signet/base/result.h>
#include <signet/json/value.h>

namespace signet::detail {

class UriTemplate {
 public:
  // At most 16 variables, each of [A-Za-z0-9_], none twice.
  static Result<UriTemplate> parse(std::string_view text);

  // An object of the variables, percent-decoded, none empty; or nothing where the URI does not fit, has a broken
  // percent sequence, or decodes to what is no UTF-8. Time is at most the product of both lengths.
  std::optional<Json> match(std::string_view uri) const;

  bool has_variable(std::string_view name) const;
  // In the order of the template. The names live as long as this.
  std::vector<std::string_view> variables() const;

 private:
  struct Piece {
    explicit Piece(std::string piece_text) : text(std::move(piece_text)) {}
    std::string text;  // the literal, or the variable's name
    bool variable = false;
    bool reserved = false;  // {+name}: slashes too
  };
  class Matching;

  std::vector<Piece> pieces_;
};

// Whether the text is an absolute URI: a scheme, a colon, and visible ASCII behind it (RFC 3986, S68).
bool is_absolute_uri(std::string_view text);

}  // namespace signet::detail
