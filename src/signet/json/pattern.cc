#include <signet/json/pattern.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <re2/re2.h>

#include <signet/json/utf8.h>

namespace signet::json {
namespace {

constexpr std::size_t expression_bytes_max = 4096;
constexpr std::int64_t program_bytes_max = std::int64_t{1} << 20;

// ECMA-262's WhiteSpace and LineTerminator, and all the rest, for use in a class.
constexpr std::string_view space =
    R"(\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF})";
constexpr std::string_view not_space =
    R"(\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E})"
    R"(\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF})";
constexpr std::string_view any_but_line_ends = R"([^\n\r\x{2028}\x{2029}])";

// Long names of general categories that RE2 knows by their short ones only.
constexpr std::pair<std::string_view, std::string_view> categories[] = {{"Letter", "L"},
                                                                        {"Cased_Letter", "LC"},
                                                                        {"Uppercase_Letter", "Lu"},
                                                                        {"Lowercase_Letter", "Ll"},
                                                                        {"Titlecase_Letter", "Lt"},
                                                                        {"Modifier_Letter", "Lm"},
                                                                        {"Other_Letter", "Lo"},
                                                                        {"Mark", "M"},
                                                                        {"Nonspacing_Mark", "Mn"},
                                                                        {"Spacing_Mark", "Mc"},
                                                                        {"Enclosing_Mark", "Me"},
                                                                        {"Number", "N"},
                                                                        {"Decimal_Number", "Nd"},
                                                                        {"digit", "Nd"},
                                                                        {"Letter_Number", "Nl"},
                                                                        {"Other_Number", "No"},
                                                                        {"Punctuation", "P"},
                                                                        {"punct", "P"},
                                                                        {"Dash_Punctuation", "Pd"},
                                                                        {"Open_Punctuation", "Ps"},
                                                                        {"Close_Punctuation", "Pe"},
                                                                        {"Symbol", "S"},
                                                                        {"Math_Symbol", "Sm"},
                                                                        {"Currency_Symbol", "Sc"},
                                                                        {"Separator", "Z"},
                                                                        {"Space_Separator", "Zs"},
                                                                        {"Other", "C"},
                                                                        {"Control", "Cc"},
                                                                        {"Format", "Cf"}};

std::string code_point(char32_t value) {
  std::array<char, 12> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<std::uint32_t>(value), 16).ptr;
  return "\\x{" + std::string(digits.begin(), end) + "}";
}

// Rewrites an expression of ECMA-262 (with the flag u) as one of RE2.
class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  Result<std::string> translate() {
    while (at_ < text_.size() && error_.empty()) {
      if (in_class_) {
        translate_in_class();
      } else {
        translate_outside();
      }
    }
    if (error_.empty() && in_class_) error_ = "The pattern has a class without an end.";
    if (!error_.empty()) return failure(error_);
    return std::move(out_);
  }

 private:
  bool next_is(std::string_view expected) const { return text_.substr(at_).starts_with(expected); }

  void fail(const char* sentence) { error_ = sentence; }

  void translate_outside() {
    const char c = text_[at_];
    if (c == '\\') {
      translate_escape();
    } else if (c == '[') {
      open_class();
    } else if (c == '.') {
      out_.append(any_but_line_ends);
      ++at_;
    } else if (next_is("(?")) {
      open_special_group();
    } else {
      out_.push_back(c);
      ++at_;
    }
  }

  void open_class() {
    if (next_is("[^]")) {
      out_.append(R"([\x{0}-\x{10FFFF}])");
      at_ += 3;
    } else if (next_is("[]")) {
      out_.append(R"([^\x{0}-\x{10FFFF}])");
      at_ += 2;
    } else {
      in_class_ = true;
      const bool negated = next_is("[^");
      out_.append(negated ? "[^" : "[");
      at_ += negated ? 2 : 1;
    }
  }

  void translate_in_class() {
    const char c = text_[at_];
    if (c == '\\') {
      translate_escape();
      return;
    }
    if (c == ']') in_class_ = false;
    if (c == '[' || c == '^') out_.push_back('\\');
    out_.push_back(c);
    ++at_;
  }

  void open_special_group() {
    if (next_is("(?:")) {
      out_.append("(?:");
      at_ += 3;
      return;
    }
    if (next_is("(?=") || next_is("(?!") || next_is("(?<=") || next_is("(?<!")) {
      return fail("The pattern looks ahead or behind, which is not supported.");
    }
    const std::size_t end = text_.find('>', at_);
    if (!next_is("(?<") || end == std::string_view::npos)
      return fail("The pattern has an unknown kind of group.");
    out_.append("(?:");  // the name is of no use here
    at_ = end + 1;
  }

  void translate_escape() {
    if (at_ + 1 >= text_.size()) return fail("The pattern ends with a backslash.");
    const char c = text_[at_ + 1];
    const std::size_t start = at_;
    at_ += 2;
    switch (c) {
      case 's':
      case 'S':
        return append_set(c == 's' ? space : not_space);
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        out_.append(text_.substr(start, 2));
        return;
      case 'v':
        out_.append(R"(\x{B})");
        return;
      case 'b':
      case 'B':
        return translate_boundary(c);
      case 'p':
      case 'P':
        return translate_property(c);
      case 'u':
        return translate_unit();
      case 'x':
        return append_hex(2);
      case 'c':
        return translate_control();
      case '0':
        if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') break;
        out_.append(R"(\x{0})");
        return;
      default:
        break;
    }
    if ((c >= '0' && c <= '9') || c == 'k')
      return fail("The pattern refers back to a group, which is not supported.");
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return fail("The pattern has an unknown escape.");
    if (static_cast<unsigned char>(c) < 0x80) out_.push_back('\\');
    out_.push_back(c);
  }

  void append_set(std::string_view set) {
    if (!in_class_) out_.push_back('[');
    out_.append(set);
    if (!in_class_) out_.push_back(']');
  }

  void translate_boundary(char c) {
    if (!in_class_) {
      out_.append({'\\', c});
    } else if (c == 'b') {
      out_.append(R"(\x{8})");
    } else {
      fail("The pattern has an unknown escape.");
    }
  }

  void translate_control() {
    if (at_ >= text_.size()) return fail("The pattern has an unknown escape.");
    const char letter = static_cast<char>(text_[at_] | 0x20);
    if (letter < 'a' || letter > 'z') return fail("The pattern has an unknown escape.");
    out_.append(code_point(static_cast<char32_t>(text_[at_]) & 0x1F));
    ++at_;
  }

  // \p{L}, \p{Letter}, \p{gc=L}, \p{Script=Greek}
  void translate_property(char c) {
    const std::size_t end = text_.find('}', at_);
    if (!next_is("{") || end == std::string_view::npos)
      return fail("The pattern has a property without a name.");
    std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (const std::size_t equals = name.find('='); equals != std::string_view::npos)
      name.remove_prefix(equals + 1);
    for (const auto& [full, abbreviated] : categories) {
      if (name == full) name = abbreviated;
    }
    if (name == "LC") {  // RE2 has no such category
      if (c == 'P' || in_class_) return fail("The pattern has a property that is not supported.");
      out_.append(R"([\p{Lu}\p{Ll}\p{Lt}])");
      return;
    }
    out_.append({'\\', c, '{'}).append(name).push_back('}');
  }

  std::optional<char32_t> read_hex(std::size_t digits) {
    char32_t value = 0;
    const std::string_view text = text_.substr(at_, digits);
    std::uint32_t read = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), read, 16);
    if (text.size() != digits || text.empty() || result.ptr != text.data() + text.size()) return std::nullopt;
    value = read;
    at_ += digits;
    return value;
  }

  void append_hex(std::size_t digits) {
    const std::optional<char32_t> value = read_hex(digits);
    if (!value) return fail("The pattern has an unknown escape.");
    out_.append(code_point(*value));
  }

  // \uXXXX, two of them for a surrogate pair, \u{X...}
  void translate_unit() {
    if (next_is("{")) {
      const std::size_t end = text_.find('}', at_);
      if (end == std::string_view::npos || end - at_ > 9) return fail("The pattern has an unknown escape.");
      ++at_;
      append_hex(end - at_);
      ++at_;
      return;
    }
    std::optional<char32_t> unit = read_hex(4);
    if (!unit) return fail("The pattern has an unknown escape.");
    if (*unit >= 0xD800 && *unit <= 0xDBFF && next_is("\\u")) {
      at_ += 2;
      const std::optional<char32_t> low = read_hex(4);
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return fail("The pattern has half a surrogate pair.");
      unit = 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00);
    }
    out_.append(code_point(*unit));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
  std::string error_;
};

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(program_bytes_max);
  return options;
}

}  // namespace

struct Pattern::Program {
  explicit Program(const std::string& expression) : re(expression, options()) {}
  RE2 re;
};

Result<Pattern> Pattern::compile(std::string_view expression) {
  if (expression.size() > expression_bytes_max) return failure("The pattern is too long.");
  if (!is_utf8(expression)) return failure("The pattern is not UTF-8.");
  Result<std::string> translated = Translator(expression).translate();
  if (!translated) return failure(std::move(translated).error());
  auto program = std::make_shared<const Program>(*translated);
  if (!program->re.ok()) return failure("The pattern is not a regular expression, or is too large.");
  return Pattern(std::move(program));
}

bool Pattern::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), program_->re);
}

}  // namespace signet::json
