#include <signet/json/text.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <forward_list>
#include <iterator>

#include <signet/json/number.h>
#include <signet/json/utf8.h>

namespace signet::json {
namespace {

using Kind = ParseError::Kind;

// A tree is destroyed by recursion, so no reader may build a deeper one.
constexpr std::size_t depth_hard_max = 1024;
constexpr std::size_t few_members = 16;
constexpr std::size_t exponent_digits_max = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Skips what a string may hold as it stands: ASCII other than control characters, quote and backslash.
const char* skip_plain(const char* at, const char* end) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t tops = 0x8080808080808080;
  const auto has_zero_byte = [](std::uint64_t word) { return (word - ones) & ~word; };
  while (end - at >= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const std::uint64_t below_space = (word - ones * 0x20) & ~word;
    const std::uint64_t stop =
        word | below_space | has_zero_byte(word ^ (ones * '"')) | has_zero_byte(word ^ (ones * '\\'));
    if ((stop & tops) != 0) {
      if constexpr (std::endian::native == std::endian::little) return at + std::countr_zero(stop & tops) / 8;
      break;
    }
    at += 8;
  }
  while (at != end && static_cast<unsigned char>(*at) >= 0x20 && static_cast<unsigned char>(*at) < 0x80 &&
         *at != '"' && *at != '\\') {
    ++at;
  }
  return at;
}

class Reader {
 public:
  Reader(std::string_view text, const Limits& limits)
      : begin_(text.data()),
        at_(text.data()),
        end_(text.data() + text.size()),
        depth_max_(std::min(limits.depth_max, depth_hard_max)),
        values_left_(limits.values_max) {
    // Most messages are no larger; what is, grows.
    frames_.reserve(8);
    elements_.reserve(8);
    members_.reserve(16);
  }

  Result<Json, ParseError> read() {
    if (!read_values()) return failure(ParseError{error_, static_cast<std::size_t>(error_at_ - begin_)});
    skip_space();
    if (at_ != end_) return failure(ParseError{Kind::trailing_text, static_cast<std::size_t>(at_ - begin_)});
    return std::move(root_);
  }

 private:
  // An array or object that is still open. Its elements or members so far are those of the stack from `first` on;
  // `name` is what it will be called where it stands in an object itself.
  struct Frame {
    bool object;
    std::size_t first;
    std::string_view name;
  };

  bool fail(Kind kind, const char* where) {
    error_ = kind;
    error_at_ = where;
    return false;
  }
  bool fail(Kind kind) { return fail(kind, at_); }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool take(char expected) {
    skip_space();
    if (at_ == end_ || *at_ != expected) return false;
    ++at_;
    return true;
  }

  // One turn reads one value's beginning, then closes and separates until the next value is due.
  bool read_values() {
    for (;;) {
      if (!read_value()) return false;
      if (opened_) {
        opened_ = false;
        if (!frames_.back().object) continue;
        if (!read_name()) return false;
        continue;
      }
      for (;;) {
        if (frames_.empty()) return true;
        if (take(',')) {
          if (frames_.back().object && !read_name()) return false;
          break;
        }
        if (!take(frames_.back().object ? '}' : ']')) return fail(Kind::syntax);
        if (!close()) return false;
      }
    }
  }

  bool read_value() {
    skip_space();
    if (at_ == end_) return fail(Kind::syntax);
    if (values_left_ == 0) return fail(Kind::too_many_values);
    --values_left_;
    switch (*at_) {
      case '{':
        return open(true, '}');
      case '[':
        return open(false, ']');
      case '"': {
        std::string_view text;
        if (!read_string(text)) return false;
        put(text);
        return true;
      }
      case 't':
        return read_word("true", true);
      case 'f':
        return read_word("false", false);
      case 'n':
        return read_word("null", nullptr);
      default:
        return read_number();
    }
  }

  // An empty array or object is complete at once; another one is opened.
  bool open(bool object, char closing) {
    if (frames_.size() >= depth_max_) return fail(Kind::too_deep);
    ++at_;
    if (take(closing)) {
      object ? put(Json::Object()) : put(JsonArray());
      return true;
    }
    frames_.push_back(Frame{object, object ? members_.size() : elements_.size(), name_});
    opened_ = true;
    return true;
  }

  bool close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    name_ = frame.name;
    const auto offset = static_cast<std::ptrdiff_t>(frame.first);
    if (!frame.object) {
      const auto first = elements_.begin() + offset;
      JsonArray array(std::make_move_iterator(first), std::make_move_iterator(elements_.end()));
      elements_.erase(first, elements_.end());
      put(std::move(array));
      return true;
    }
    const auto first = members_.begin() + offset;
    if (members_.size() - frame.first > few_members && has_duplicate(first))
      return fail(Kind::duplicate_name);
    std::vector<JsonMember> members(std::make_move_iterator(first), std::make_move_iterator(members_.end()));
    members_.erase(first, members_.end());
    put(Json::Object::from_unique(std::move(members)));
    return true;
  }

  // Sorted, not hashed: nobody can choose names that make this slow.
  bool has_duplicate(std::vector<JsonMember>::iterator first) const {
    std::vector<std::string_view> names;
    names.reserve(static_cast<std::size_t>(members_.end() - first));
    for (auto member = first; member != members_.end(); ++member) names.push_back(member->first);
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) != names.end();
  }

  template <typename Value>
  void put(Value&& value) {
    if (frames_.empty()) {
      root_ = Json(std::forward<Value>(value));
    } else if (frames_.back().object) {
      members_.emplace_back(name_, std::forward<Value>(value));
    } else {
      elements_.emplace_back(std::forward<Value>(value));
    }
  }

  // A name and its colon.
  bool read_name() {
    skip_space();
    if (at_ == end_ || *at_ != '"') return fail(Kind::syntax);
    const char* const start = at_;
    if (!read_string(name_)) return false;
    if (name_.data() == unescaped_.data()) name_ = names_.emplace_front(unescaped_);
    const std::size_t first = frames_.back().first;
    if (members_.size() - first <= few_members) {
      for (std::size_t i = first; i < members_.size(); ++i) {
        if (members_[i].first == name_) return fail(Kind::duplicate_name, start);
      }
    }
    if (!take(':')) return fail(Kind::syntax);
    return true;
  }

  template <typename Value>
  bool read_word(std::string_view word, Value value) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() || std::string_view(at_, word.size()) != word) {
      return fail(Kind::syntax);
    }
    at_ += word.size();
    put(value);
    return true;
  }

  bool read_number() {
    const char* const start = at_;
    if (*at_ == '-') ++at_;
    const char* const digits = at_;
    if (!skip_digits()) return false;
    if (*digits == '0' && at_ - digits > 1) return fail(Kind::syntax, digits);
    bool integral = true;
    if (at_ != end_ && *at_ == '.') {
      integral = false;
      ++at_;
      if (!skip_digits()) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      integral = false;
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      const char* const exponent = at_;
      if (!skip_digits()) return false;
      if (static_cast<std::size_t>(at_ - exponent) > exponent_digits_max)
        return fail(Kind::too_long, exponent);
    }
    if (integral && at_ - digits <= 18) {
      std::int64_t value = 0;
      std::from_chars(start, at_, value);
      put(value);
    } else {
      put(number_of(std::string_view(start, static_cast<std::size_t>(at_ - start))));
    }
    return true;
  }

  bool skip_digits() {
    const char* const start = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != start || fail(Kind::syntax);
  }

  // Gives a view into the text, or into `unescaped_` until the next string.
  bool read_string(std::string_view& out) {
    ++at_;
    const char* start = at_;
    bool has_escapes = false;
    for (;;) {
      at_ = skip_plain(at_, end_);
      if (at_ == end_) return fail(Kind::syntax);
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte == '"') break;
      if (byte < 0x20) return fail(Kind::syntax);
      if (byte == '\\') {
        if (!has_escapes) unescaped_.clear();
        has_escapes = true;
        unescaped_.append(start, at_);
        if (!read_escape(unescaped_)) return false;
        start = at_;
      } else {
        const std::size_t length = utf8_length(at_, end_);
        if (length == 0) return fail(Kind::invalid_utf8);
        at_ += length;
      }
    }
    if (has_escapes) unescaped_.append(start, at_);
    out = has_escapes ? std::string_view(unescaped_)
                      : std::string_view(start, static_cast<std::size_t>(at_ - start));
    ++at_;
    return true;
  }

  bool read_escape(std::string& out) {
    const char* const start = at_;
    if (end_ - at_ < 2) return fail(Kind::syntax);
    static constexpr std::string_view letters = "\"\\/bfnrt";
    static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const char letter = at_[1];
    at_ += 2;
    if (const std::size_t i = letters.find(letter); i != std::string_view::npos) {
      out.push_back(meanings[i]);
      return true;
    }
    char32_t unit = 0;
    if (letter != 'u' || !read_hex(unit)) return fail(Kind::syntax, start);
    if (unit >= 0xDC00 && unit <= 0xDFFF) return fail(Kind::invalid_utf8, start);
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      char32_t low = 0;
      if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u') return fail(Kind::invalid_utf8, start);
      at_ += 2;
      if (!read_hex(low)) return fail(Kind::syntax, start);
      if (low < 0xDC00 || low > 0xDFFF) return fail(Kind::invalid_utf8, start);
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, unit);
    return true;
  }

  bool read_hex(char32_t& unit) {
    if (end_ - at_ < 4) return false;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = *at_;
      const char lower = static_cast<char>(c | 0x20);
      unsigned digit = 0;
      if (is_digit(c)) {
        digit = static_cast<unsigned>(c - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        digit = static_cast<unsigned>(lower - 'a') + 10;
      } else {
        return false;
      }
      unit = unit * 16 + digit;
    }
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  std::size_t depth_max_;
  std::size_t values_left_;
  Kind error_ = Kind::syntax;
  const char* error_at_ = nullptr;
  bool opened_ = false;
  std::string_view name_;                 // of the member whose value is due
  std::forward_list<std::string> names_;  // those that had escapes
  std::string unescaped_;
  Json root_;
  std::vector<Frame> frames_;
  std::vector<Json> elements_;
  std::vector<JsonMember> members_;
};

void append_string(std::string& out, std::string_view text) {
  static constexpr char hex_digits[] = "0123456789abcdef";
  static constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
  static constexpr std::string_view letters = "\"\\bfnrt";
  const char* at = text.data();
  const char* const end = at + text.size();
  out.push_back('"');
  while (at != end) {
    const char* const plain = skip_plain(at, end);
    out.append(at, plain);
    at = plain;
    if (at == end) break;
    const auto byte = static_cast<unsigned char>(*at);
    if (byte >= 0x80) {
      const std::size_t length = utf8_length(at, end);
      out.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : std::string_view(at, length));
      at += std::max(length, std::size_t{1});
      continue;
    }
    out.push_back('\\');
    if (const std::size_t i = escaped.find(*at); i != std::string_view::npos) {
      out.push_back(letters[i]);
    } else {
      out.append("u00").push_back(hex_digits[byte >> 4]);
      out.push_back(hex_digits[byte & 15]);
    }
    ++at;
  }
  out.push_back('"');
}

template <typename Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> text;
  out.append(text.begin(), std::to_chars(text.begin(), text.end(), value).ptr);
}

// The order of the UTF-16 forms of two UTF-8 texts. It is the order of their bytes, but for U+E000 to U+FFFF, which
// come after the surrogates of what is longer.
bool less_in_utf16(std::string_view a, std::string_view b) {
  const auto [at_a, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at_a == a.end() || at_b == b.end()) return at_a == a.end() && at_b != b.end();
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
  };
  return rank(*at_a) < rank(*at_b);
}

std::vector<const JsonMember*> sorted_members(const Json::Object& object) {
  std::vector<const JsonMember*> members;
  members.reserve(object.size());
  for (const JsonMember& member : object) members.push_back(&member);
  const auto less = [](const JsonMember* a, const JsonMember* b) {
    return less_in_utf16(a->first, b->first);
  };
  if (!std::is_sorted(members.begin(), members.end(), less)) std::sort(members.begin(), members.end(), less);
  return members;
}

enum class Form : std::uint8_t { plain, kinds, canonical };

void append_value(std::string& out, const Json& value, Form form);

void append_member(std::string& out, const JsonMember& member, bool first, Form form) {
  if (!first) out.push_back(',');
  append_string(out, member.first);
  out.push_back(':');
  append_value(out, member.second, form);
}

void append_object(std::string& out, const Json::Object& object, Form form) {
  out.push_back('{');
  bool first = true;
  if (form != Form::canonical) {
    for (const JsonMember& member : object) {
      append_member(out, member, first, form);
      first = false;
    }
  } else {
    for (const JsonMember* member : sorted_members(object)) {
      append_member(out, *member, first, form);
      first = false;
    }
  }
  out.push_back('}');
}

void append_array(std::string& out, const JsonArray& array, Form form) {
  out.push_back('[');
  bool first = true;
  for (const Json& element : array) {
    if (!first) out.push_back(',');
    append_value(out, element, form);
    first = false;
  }
  out.push_back(']');
}

void append_double(std::string& out, double value, Form form) {
  if (value == 0 && std::signbit(value) && form != Form::canonical) {
    out.append("-0.0");
    return;
  }
  const std::size_t begin = out.size();
  append_number(out, value);
  if (form == Form::kinds && out.find_first_of(".e", begin) == std::string::npos) out.append(".0");
}

void append_value(std::string& out, const Json& value, Form form) {
  switch (value.kind()) {
    case Json::Kind::null:
      out.append("null");
      break;
    case Json::Kind::boolean:
      out.append(*value.as_boolean() ? "true" : "false");
      break;
    case Json::Kind::integer:
      append_integer(out, *value.as_int64());
      break;
    case Json::Kind::unsigned_integer:
      append_integer(out, *value.as_uint64());
      break;
    case Json::Kind::number:
      append_double(out, *value.as_double(), form);
      break;
    case Json::Kind::decimal:
      if (form != Form::canonical) {
        out.append(*value.decimal_text());
      } else {
        append_number(out, decimal_of(value));
      }
      break;
    case Json::Kind::string:
      append_string(out, *value.as_string());
      break;
    case Json::Kind::array:
      append_array(out, *value.as_array(), form);
      break;
    case Json::Kind::object:
      append_object(out, *value.as_object(), form);
      break;
  }
}

}  // namespace

std::string describe(const ParseError& error) {
  static constexpr std::string_view reasons[] = {
      "The text is not JSON",
      "The text is not valid UTF-8, or has half a surrogate pair",
      "An object has two members of one name",
      "Arrays and objects are nested too deep",
      "The text, or the exponent of a number in it, is too long",
      "The text has too many values",
      "Something follows the JSON value",
  };
  std::string sentence(reasons[static_cast<std::size_t>(error.kind)]);
  return sentence + " (at byte " + std::to_string(error.offset) + ").";
}

Result<Json, ParseError> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes_max) return failure(ParseError{Kind::too_long, limits.bytes_max});
  return Reader(text, limits).read();
}

void append(std::string& out, const Json& value) { append_value(out, value, Form::plain); }

std::string write(const Json& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string write_with_kinds(const Json& value) {
  std::string out;
  append_value(out, value, Form::kinds);
  return out;
}

std::string canonical(const Json& value) {
  std::string out;
  append_value(out, value, Form::canonical);
  return out;
}

}  // namespace signet::json
