#include <signet/metrics/registry.h>

#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace signet {
namespace {

constexpr std::string_view dropped_name = "signet_metrics_dropped_total";

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> descriptions{{
    {"signet_http_responses_total", "HTTP responses begun, by status."},
    {"signet_rounds_total", "Rounds of calls, prompts and resources, by method and outcome."},
    {"signet_state_refused_total", "Request states refused, by reason and method."},
    {dropped_name, "Counts that were not kept: too many series, or not valid."},
}};

std::string_view description_of(std::string_view name) {
  for (const auto& [known, text] : descriptions) {
    if (known == name) return text;
  }
  return {};
}

// The text between two quotes, from `at` behind the first one; moves `at` behind the second one.
std::optional<std::string> read_value(std::string_view labels, std::size_t& at) {
  std::string value;
  for (; at < labels.size(); ++at) {
    char c = labels[at];
    if (c == '"') {
      ++at;
      return value;
    }
    if (c == '\\') {
      if (++at == labels.size()) break;
      c = labels[at] == 'n' ? '\n' : labels[at];
    }
    value.push_back(c);
  }
  return std::nullopt;
}

// `a="1",b="2"` in parts; nothing where it is not so.
std::optional<prometheus::Labels> read_labels(std::string_view labels) {
  prometheus::Labels read;
  std::size_t at = 0;
  while (at < labels.size()) {
    const std::size_t sign = labels.find("=\"", at);
    if (sign == std::string_view::npos) return std::nullopt;
    std::string name(labels.substr(at, sign - at));
    at = sign + 2;
    std::optional<std::string> value = read_value(labels, at);
    if (!value || !read.emplace(std::move(name), std::move(*value)).second) return std::nullopt;
    if (at == labels.size()) return read;
    if (labels[at++] != ',' || at == labels.size()) return std::nullopt;
  }
  return read;
}

}  // namespace

struct MetricsRegistry::Impl {
  explicit Impl(std::size_t most) : series_max(most), dropped(family(dropped_name).Add({})) {}

  prometheus::Family<prometheus::Counter>& family(std::string_view name) {
    return prometheus::BuildCounter()
        .Name(std::string(name))
        .Help(std::string(description_of(name)))
        .Register(registry);
  }

  // The counter of a series that is not known yet, or null.
  prometheus::Counter* make(std::string_view name, std::string_view labels) {
    if (count >= series_max || name == dropped_name) return nullptr;
    const std::optional<prometheus::Labels> read = read_labels(labels);
    if (!read) return nullptr;
    try {
      prometheus::Counter& made = family(name).Add(*read);
      ++count;
      known[std::string(name)].emplace(labels, &made);
      return &made;
    } catch (const std::exception&) {  // a name that Prometheus does not allow
      return nullptr;
    }
  }

  prometheus::Counter* find(std::string_view name, std::string_view labels) {
    const auto of_name = known.find(name);
    if (of_name != known.end()) {
      const auto found = of_name->second.find(labels);
      if (found != of_name->second.end()) return found->second;
    }
    return make(name, labels);
  }

  const std::size_t series_max;
  prometheus::Registry registry;
  prometheus::Counter& dropped;
  std::mutex mutex;
  std::size_t count = 0;
  // By name, then by labels as they are written.
  std::map<std::string, std::map<std::string, prometheus::Counter*, std::less<>>, std::less<>> known;
};

MetricsRegistry::MetricsRegistry(std::size_t series_max) : impl_(std::make_unique<Impl>(series_max)) {}

MetricsRegistry::~MetricsRegistry() = default;

void MetricsRegistry::add(std::string_view name, std::string_view labels, double by) {
  const std::lock_guard lock(impl_->mutex);
  prometheus::Counter* counter = std::isfinite(by) && by >= 0 ? impl_->find(name, labels) : nullptr;
  if (counter != nullptr) {
    counter->Increment(by);
  } else {
    impl_->dropped.Increment();
  }
}

std::string MetricsRegistry::text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace signet
