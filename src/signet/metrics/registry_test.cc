#include <signet/base/source_dir_for_tests.h>
#include <signet/metrics/registry.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace signet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsRegistry, ShowsWhatWasCountedInTheTextFormat) {
  MetricsRegistry metrics;
  metrics.add("signet_rounds_total", R"(method="tools/call",outcome="complete")");
  metrics.add("signet_rounds_total", R"(method="tools/call",outcome="complete")", 2);
  metrics.add("signet_rounds_total", R"(method="tools/call",outcome="asked")");
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# TYPE signet_rounds_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# HELP signet_rounds_total Rounds"));
  EXPECT_THAT(text, HasSubstr("signet_rounds_total{method=\"tools/call\",outcome=\"complete\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("signet_rounds_total{method=\"tools/call\",outcome=\"asked\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("signet_metrics_dropped_total 0\n"));
}

TEST(MetricsRegistry, KeepsASeriesWithoutLabels) {
  MetricsRegistry metrics;
  metrics.add("starts_total", "");
  EXPECT_THAT(metrics.text(), HasSubstr("starts_total 1\n"));
}

TEST(MetricsRegistry, EscapesQuotesOfLabelsAsTheyCame) {
  MetricsRegistry metrics;
  metrics.add("odd_total", R"(what="a\"b\\c\nd")");
  EXPECT_THAT(metrics.text(), HasSubstr(R"(odd_total{what="a\"b\\c\nd"} 1)"));
}

TEST(MetricsRegistry, KeepsSoManySeriesAndNoMore) {
  MetricsRegistry metrics(2);
  metrics.add("many_total", R"(n="1")");
  metrics.add("many_total", R"(n="2")");
  metrics.add("many_total", R"(n="3")");
  metrics.add("many_total", R"(n="2")");
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("many_total{n=\"2\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("n=\"3\"")));
  EXPECT_THAT(text, HasSubstr("signet_metrics_dropped_total 1\n"));
}

TEST(MetricsRegistry, DropsWhatIsNotValidAndStaysReadable) {
  MetricsRegistry metrics;
  const std::vector<std::pair<std::string, std::string>> wrong{{"no name", ""},
                                                               {"", ""},
                                                               {"a_total", "n"},
                                                               {"a_total", "n=\"1"},
                                                               {"a_total", "n=1"},
                                                               {"a_total", "=\"1\""},
                                                               {"a_total", "n=\"1\","},
                                                               {"a_total", "n=\"1\"m=\"2\""},
                                                               {"a_total", "n=\"1\",n=\"2\""},
                                                               {"signet_metrics_dropped_total", "n=\"1\""}};
  for (const auto& [name, labels] : wrong) metrics.add(name, labels);
  metrics.add("a_total", R"(n="1")", -1);
  metrics.add("a_total", R"(n="1")", std::nan(""));
  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("signet_metrics_dropped_total " + std::to_string(wrong.size() + 2) + "\n"));
  EXPECT_THAT(text, Not(HasSubstr("a_total{")));
}

TEST(MetricsRegistry, CountsFromSeveralThreadsWhileItIsRead) {
  MetricsRegistry metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&metrics] {
      for (int n = 0; n < 1000; ++n) {
        metrics.add("busy_total", n % 2 == 0 ? R"(n="even")" : R"(n="odd")");
        if (n % 100 == 0) {
          EXPECT_FALSE(metrics.text().empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(metrics.text(), HasSubstr("busy_total{n=\"even\"} 2000\n"));
  EXPECT_THAT(metrics.text(), HasSubstr("busy_total{n=\"odd\"} 2000\n"));
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> found(const std::string& text, const std::regex& pattern) {
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

TEST(MetricsRegistry, OperationsNamesEveryMetricOfTheSourcesAndNoOther) {
  const std::filesystem::path root = signet::testing::source_dir();
  std::set<std::string> counted{"signet_metrics_dropped_total"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "src")) {
    if (entry.path().extension() != ".cc" || entry.path().string().ends_with("_test.cc")) continue;
    counted.merge(found(read_file(entry.path()), std::regex("add\\(\\s*\"(signet_[a-z_]+)\"")));
  }
  EXPECT_EQ(found(read_file(root / "doc/operations.md"), std::regex("\\| `(signet_[a-z_]+)` \\|")), counted);
  MetricsRegistry metrics;
  for (const std::string& name : counted) {
    metrics.add(name, "");
    EXPECT_THAT(metrics.text(), Not(HasSubstr("# HELP " + name + "\n"))) << name << " is not described";
    EXPECT_THAT(metrics.text(), Not(HasSubstr("# HELP " + name + " \n"))) << name << " is not described";
  }
}

}  // namespace
}  // namespace signet
