#include <signet/transport/server_head.h>

#include <array>
#include <charconv>
#include <chrono>

namespace signet::transport {
namespace {

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "200 OK";
    case 202:
      return "202 Accepted";
    case 204:
      return "204 No Content";
    case 400:
      return "400 Bad Request";
    case 401:
      return "401 Unauthorized";
    case 403:
      return "403 Forbidden";
    case 404:
      return "404 Not Found";
    case 405:
      return "405 Method Not Allowed";
    case 406:
      return "406 Not Acceptable";
    case 408:
      return "408 Request Timeout";
    case 409:
      return "409 Conflict";
    case 413:
      return "413 Content Too Large";
    case 415:
      return "415 Unsupported Media Type";
    case 417:
      return "417 Expectation Failed";
    case 421:
      return "421 Misdirected Request";
    case 431:
      return "431 Request Header Fields Too Large";
    case 501:
      return "501 Not Implemented";
    case 503:
      return "503 Service Unavailable";
    default:
      return "500 Internal Server Error";
  }
}

void append_number(std::string& out, std::size_t number, int base) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, base);
  out.append(digits, end.ptr);
}

void append_two(std::string& out, unsigned number) {
  out += static_cast<char>('0' + number / 10 % 10);
  out += static_cast<char>('0' + number % 10);
}

}  // namespace

void append_head(std::string& out, int status, const HeadOptions& options, const Fields& fields) {
  out += "HTTP/1.1 ";
  out += reason(status);
  out += "\r\nDate: ";
  out += options.date;
  if (!options.content_type.empty()) {
    out += "\r\nContent-Type: ";
    out += options.content_type;
  }
  if (options.content_length && status != 204) {
    out += "\r\nContent-Length: ";
    append_number(out, *options.content_length, 10);
  }
  if (options.chunked) out += "\r\nTransfer-Encoding: chunked";
  if (options.close) out += "\r\nConnection: close";
  for (const auto& [name, value] : fields) {
    out += "\r\n";
    out += name;
    out += ": ";
    out += value;
  }
  out += "\r\n\r\n";
}

void append_chunk(std::string& out, std::string_view bytes) {
  append_number(out, bytes.size(), 16);
  out += "\r\n";
  out += bytes;
  out += "\r\n";
}

std::string http_date(Timestamp time) {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace): literals of dates
  static constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = floor<std::chrono::days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  std::string out(days[weekday(day).c_encoding()]);
  out += ", ";
  append_two(out, static_cast<unsigned>(date.day()));
  out += ' ';
  out += months[static_cast<unsigned>(date.month()) - 1];
  out += ' ';
  append_number(out, static_cast<std::size_t>(static_cast<int>(date.year())), 10);
  out += ' ';
  append_two(out, static_cast<unsigned>(clock.hours().count()));
  out += ':';
  append_two(out, static_cast<unsigned>(clock.minutes().count()));
  out += ':';
  append_two(out, static_cast<unsigned>(clock.seconds().count()));
  out += " GMT";
  return out;
}

}  // namespace signet::transport
