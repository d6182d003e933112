// Counts kept in this process, in the text format that Prometheus reads (doc/operations.md names them).
//
//   signet::MetricsRegistry metrics;
//   options.metrics(metrics);                                  // ServerOptions
//   http.metrics = &metrics;                                   // HttpOptions
//   http.metrics_text = [&metrics] { return metrics.text(); };
//   http.admin_port = 9464;
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <signet/base/log.h>

namespace signet {

// Thread-safe. Adding to a series that exists takes one lock and allocates nothing.
class MetricsRegistry final : public Metrics {
 public:
  // A series is one name with one set of labels. Beyond `series_max`, what is new is not kept.
  explicit MetricsRegistry(std::size_t series_max = 4096);
  ~MetricsRegistry() override;

  // Counts `by` more; never throws. Names and labels that Prometheus does not allow, what is beyond `series_max`, and
  // an amount that is no positive number are counted in `signet_metrics_dropped_total` alone.
  void add(std::string_view name, std::string_view labels, double by = 1) override;

  // All counters, in the text exposition format 0.0.4.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace signet
