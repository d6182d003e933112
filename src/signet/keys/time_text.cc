#include <signet/keys/time_text.h>

#include <chrono>

namespace signet::keys {
namespace {

using std::chrono::milliseconds;

// Reads digits off the front of a text.
class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}

  int number(std::size_t digits) {
    int number = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = i < text_.size() ? text_[i] : 'x';
      ok_ = ok_ && c >= '0' && c <= '9';
      number = number * 10 + (c - '0');
    }
    if (ok_) text_.remove_prefix(digits);
    return ok_ ? number : 0;
  }
  void expect(char c) {
    ok_ = ok_ && text_.starts_with(c);
    if (ok_) text_.remove_prefix(1);
  }
  // `.5`, `.50` and `.500` are the same.
  int fraction() {
    if (!text_.starts_with('.')) return 0;
    const std::size_t digits = text_.find('Z') - 1;
    ok_ = ok_ && digits >= 1 && digits <= 3;
    if (!ok_) return 0;
    expect('.');
    const int scale = digits == 1 ? 100 : digits == 2 ? 10 : 1;
    return number(digits) * scale;
  }
  bool finished() const { return ok_ && text_.empty(); }

 private:
  std::string_view text_;
  bool ok_ = true;
};

}  // namespace

std::string to_text(Timestamp time) {
  constexpr std::string_view no_fraction = ".000Z";
  std::string text = iso_8601(time);
  if (text.ends_with(no_fraction)) text.replace(text.size() - no_fraction.size(), no_fraction.size(), "Z");
  return text;
}

std::optional<Timestamp> parse_time(std::string_view text) {
  Digits digits(text);
  const int year = digits.number(4);
  digits.expect('-');
  const int month = digits.number(2);
  digits.expect('-');
  const int day = digits.number(2);
  digits.expect('T');
  const int hour = digits.number(2);
  digits.expect(':');
  const int minute = digits.number(2);
  digits.expect(':');
  const int second = digits.number(2);
  const int fraction = digits.fraction();
  digits.expect('Z');
  if (!digits.finished() || year < 1970 || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + milliseconds(fraction);
}

}  // namespace signet::keys
