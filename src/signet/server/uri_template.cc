#include <signet/server/uri_template.h>

#include <signet/base/percent.h>
#include <signet/json/format.h>
#include <signet/json/utf8.h>

#include <algorithm>

namespace signet::detail {

namespace {

constexpr std::size_t variables_max = 16;

bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), allowed);
}

// A value of a variable; nothing where it is broken, or no UTF-8.
std::optional<std::string> read_value(std::string_view text) {
  std::optional<std::string> value = percent_decoded(text);
  if (value && !json::is_utf8(*value)) return std::nullopt;
  return value;
}

bool is_slash(char c) { return c == '/' || c == '\\'; }

// As a path has segments, wherever the program runs.
bool has_dot_segment(std::string_view path) {
  while (true) {
    const auto end = std::ranges::find_if(path, is_slash);
    const std::string_view segment(path.begin(), end);
    if (segment == "." || segment == "..") return true;
    if (end == path.end()) return false;
    path = std::string_view(end + 1, path.end());
  }
}

}  // namespace

Result<UriTemplate> UriTemplate::parse(std::string_view text) {
  UriTemplate result;
  std::string filled;
  std::size_t variables = 0;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    const std::string_view literal = text.substr(0, open);
    if (literal.find('}') != std::string_view::npos) return failure("a brace without its partner");
    if (!literal.empty()) result.pieces_.emplace_back(std::string(literal));
    filled.append(literal);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    if (close == std::string_view::npos) return failure("a brace without its partner");
    std::string_view name = text.substr(open + 1, close - open - 1);
    const bool reserved = name.starts_with('+');
    if (reserved) name.remove_prefix(1);
    if (!is_name(name)) return failure("a variable is letters, digits and underscores");
    if (result.has_variable(name)) return failure("a variable comes twice");
    if (++variables > variables_max) return failure("too many variables");
    Piece piece{std::string(name)};
    piece.variable = true;
    piece.reserved = reserved;
    piece.at_root = literal.ends_with('/') && !literal.ends_with("://");
    filled.append("1");
    result.pieces_.push_back(std::move(piece));
    text.remove_prefix(close + 1);
  }
  if (!is_absolute_uri(filled)) return failure("between its variables it is no absolute URI");
  return result;
}

bool UriTemplate::has_variable(std::string_view name) const {
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [name](const Piece& piece) { return piece.variable && piece.text == name; });
}

std::vector<std::string_view> UriTemplate::variables() const {
  std::vector<std::string_view> names;
  for (const Piece& piece : pieces_) {
    if (piece.variable) names.push_back(piece.text);
  }
  return names;
}

// Depth is bounded by the pieces, and no (piece, position) is tried twice.
class UriTemplate::Matching {
 public:
  Matching(const std::vector<Piece>& pieces, std::string_view uri, Climbing climbing)
      : pieces_(pieces), uri_(uri), climbing_(climbing), failed_(pieces.size() * (uri.size() + 1)) {}

  bool from(std::size_t piece, std::size_t at) {
    if (piece == pieces_.size()) return at == uri_.size();
    const std::size_t mark = piece * (uri_.size() + 1) + at;
    if (failed_[mark]) return false;
    const bool fits = pieces_[piece].variable ? variable(piece, at) : literal(piece, at);
    if (!fits) failed_[mark] = true;
    return fits;
  }

  Json variables() && { return std::move(variables_); }

 private:
  bool literal(std::size_t piece, std::size_t at) {
    const std::string& text = pieces_[piece].text;
    return uri_.substr(at).starts_with(text) && from(piece + 1, at + text.size());
  }

  bool variable(std::size_t piece, std::size_t at) {
    std::size_t end = at;
    while (end < uri_.size() && !is_control(uri_[end]) &&
           (pieces_[piece].reserved || !is_delimiter(uri_[end]))) {
      ++end;
      if (from(piece + 1, end)) {
        std::optional<std::string> value = read_value(uri_.substr(at, end - at));
        if (!value || (climbing_ == Climbing::refused && climbs(pieces_[piece], *value))) return false;
        variables_.set(pieces_[piece].text, std::move(*value));
        return true;
      }
      if (failed_[piece * (uri_.size() + 1) + end])
        break;  // where this variable begins there, all ends were tried
    }
    for (std::size_t tried = at; tried < end; ++tried) failed_[piece * (uri_.size() + 1) + tried] = true;
    return false;
  }

  static bool climbs(const Piece& variable, std::string_view value) {
    const bool is_rooted = is_slash(value.front()) && (!variable.reserved || variable.at_root);
    return is_rooted || value.find('\0') != std::string_view::npos || has_dot_segment(value);
  }

  static bool is_delimiter(char c) { return c == '/' || c == '?' || c == '#'; }
  // No URI holds one (RFC 3986), so none reaches a handler unless it was percent-encoded.
  static bool is_control(char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }

  const std::vector<Piece>& pieces_;
  std::string_view uri_;
  const Climbing climbing_;
  std::vector<bool> failed_;
  Json variables_ = Json::object();
};

std::optional<Json> UriTemplate::match(std::string_view uri, Climbing climbing) const {
  Matching matching(pieces_, uri, climbing);
  if (!matching.from(0, 0)) return std::nullopt;
  return std::move(matching).variables();
}

bool is_absolute_uri(std::string_view text) {
  return json::has_format(text, json::Format::uri) && text.find(':') + 1 < text.size();
}

}  // namespace signet::detail
