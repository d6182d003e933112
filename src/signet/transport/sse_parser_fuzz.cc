// The attacker is a server, or who can write into its stream: any bytes, cut anywhere.
#include <signet/transport/sse_parser.h>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  signet::transport::SseParser whole(4096);
  std::vector<signet::transport::SseEvent> at_once;
  const bool whole_fits = whole.feed(all, at_once).ok();

  // Where the bytes are cut makes no difference.
  signet::transport::SseParser bytewise(4096);
  std::vector<signet::transport::SseEvent> one_by_one;
  bool fits = true;
  for (std::size_t i = 0; i < size && fits; ++i) fits = bytewise.feed(all.substr(i, 1), one_by_one).ok();
  if (fits != whole_fits) std::abort();
  if (fits && at_once.size() != one_by_one.size()) std::abort();
  for (std::size_t i = 0; fits && i < at_once.size(); ++i) {
    if (at_once[i].data != one_by_one[i].data || at_once[i].type != one_by_one[i].type) std::abort();
  }
  return 0;
}
