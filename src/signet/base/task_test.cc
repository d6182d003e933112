#include <signet/base/task.h>

#include <signet/base/one_shot.h>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace signet {
namespace {

Task<int> ready(int value) { co_return value; }

Task<long> sum_of(int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    const int value = co_await ready(i);
    sum += value;
  }
  co_return sum;
}

Task<long> depth_of(int depth) {
  if (depth == 0) co_return 0;
  const long inner = co_await depth_of(depth - 1);
  co_return inner + 1;
}

Task<std::string> greeting(OneShot<std::string> name) {
  const std::string text = co_await name;
  co_return "hello " + text;
}

Task<int> throws() {
  const int value = co_await ready(1);
  if (value == 1) throw std::runtime_error("no");
  co_return value;
}

Task<int> passes_on() {
  const int value = co_await throws();
  co_return value;
}

template <typename T>
bool run(Task<T>& task) {
  // Shared, because a task that waits finishes after this returns.
  const auto done = std::make_shared<bool>(false);
  task.start([done] { *done = true; });
  return *done;
}

TEST(Task, AMillionAwaitsInARowDoNotOverflowTheStack) {
  Task<long> task = sum_of(1'000'000);
  ASSERT_TRUE(run(task));
  EXPECT_EQ(task.take(), 499'999'500'000);
}

TEST(Task, AMillionNestedAwaitsDoNotOverflowTheStack) {
  Task<long> task = depth_of(1'000'000);
  ASSERT_TRUE(run(task));
  EXPECT_EQ(task.take(), 1'000'000);
}

TEST(Task, WaitsForAValueThatComesLater) {
  const OneShot<std::string> name;
  Task<std::string> task = greeting(name);
  ASSERT_FALSE(run(task));
  name.set("Ada");
  ASSERT_TRUE(task.finished());
  EXPECT_EQ(task.take(), "hello Ada");
}

TEST(Task, DroppingItDestroysEveryFrameOfTheChain) {
  const long before = detail::frames_alive();
  const OneShot<std::string> name;
  {
    Task<std::string> task = greeting(name);
    ASSERT_FALSE(run(task));
    EXPECT_EQ(detail::frames_alive(), before + 1);
  }
  EXPECT_EQ(detail::frames_alive(), before);
  name.set("nobody");
}

TEST(Task, ExceptionsReachWhoTakesTheResult) {
  Task<int> task = passes_on();
  ASSERT_TRUE(run(task));
  EXPECT_THROW(task.take(), std::runtime_error);
}

}  // namespace
}  // namespace signet
