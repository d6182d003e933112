// Task<T>: a lazy coroutine that produces one T.
//
// Nothing runs before a task is awaited or started. Dropping a task that has not finished destroys its frame
// and, with it, every task it waits for: destructors run, and that is how things are cancelled.
// Awaiting resumes on a queue of the thread rather than on its stack, so neither a million awaits in a row
// nor a million nested ones overflow it, under any compiler and optimisation level.
// Threads: a task and all it awaits belong to one logical thread (an Executor) at a time.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace signet {

template <typename T = void>
class Task;

namespace detail {

// What every task's promise shares: its place in the thread's queue and who waits for it.
class PromiseBase {
 public:
  PromiseBase() = default;
  PromiseBase(const PromiseBase&) = delete;
  PromiseBase& operator=(const PromiseBase&) = delete;
  ~PromiseBase() { unqueue(); }

  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      PromiseBase& finished = handle.promise();
      if (finished.waiting_ != nullptr) {
        schedule(*finished.waiting_);
      } else if (finished.done_) {
        schedule(finished);
      }
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  // Puts `promise` at the end of this thread's queue, and runs the queue unless it is running already.
  static void schedule(PromiseBase& promise);

  std::coroutine_handle<> handle_;
  PromiseBase* waiting_ = nullptr;  // resumed when this one finishes
  std::function<void()> done_;      // called when a started task finishes

 private:
  friend struct ReadyQueue;
  void unqueue();

  struct ReadyQueue* queue_ = nullptr;
  PromiseBase* next_ = nullptr;
  PromiseBase* previous_ = nullptr;
};

template <typename T>
class Promise final : public PromiseBase {
 public:
  Task<T> get_return_object();
  void unhandled_exception() { exception_ = std::current_exception(); }
  template <typename U>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  std::exception_ptr exception_;
};

template <>
class Promise<void> final : public PromiseBase {
 public:
  Task<void> get_return_object();
  void unhandled_exception() { exception_ = std::current_exception(); }
  void return_void() {}
  void take() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  std::exception_ptr exception_;
};

// How many coroutine frames of tasks are alive in this process, for tests that look for leaks.
long frames_alive();
void count_frame(long by);

}  // namespace detail

template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using value_type = T;

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      drop();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { drop(); }

  bool valid() const { return handle_ != nullptr; }
  bool finished() const { return handle_ != nullptr && handle_.done(); }

  // Runs the task from here until its first real suspension. When it finishes, `done` is called once, from
  // the thread's queue, after the frame has stopped: it may take the result and may drop the task.
  // Precondition: valid, and neither started nor awaited before.
  void start(std::function<void()> done) {
    promise().done_ = std::move(done);
    detail::PromiseBase::schedule(promise());
  }

  // The result, or the exception that left the coroutine. Precondition: finished; once.
  T take() { return promise().take(); }

  class Awaiter {
   public:
    explicit Awaiter(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    bool await_ready() const noexcept { return handle_.done(); }
    template <typename Outer>
    void await_suspend(std::coroutine_handle<Outer> outer) noexcept {
      detail::PromiseBase& inner = handle_.promise();
      inner.waiting_ = &outer.promise();
      detail::PromiseBase::schedule(inner);
    }
    T await_resume() { return handle_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> handle_;
  };
  // Awaitable once, inside another Task. The awaited Task must outlive the await; a temporary does.
  Awaiter operator co_await() const noexcept { return Awaiter(handle_); }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) { detail::count_frame(1); }
  promise_type& promise() const { return handle_.promise(); }
  void drop() {
    if (handle_) {
      std::exchange(handle_, nullptr).destroy();
      detail::count_frame(-1);
    }
  }

  std::coroutine_handle<promise_type> handle_;
};

namespace detail {

template <typename T>
Task<T> Promise<T>::get_return_object() {
  auto handle = std::coroutine_handle<Promise<T>>::from_promise(*this);
  handle_ = handle;
  return Task<T>(handle);
}

inline Task<void> Promise<void>::get_return_object() {
  auto handle = std::coroutine_handle<Promise<void>>::from_promise(*this);
  handle_ = handle;
  return Task<void>(handle);
}

}  // namespace detail

// Resumes a suspended task from a callback, on the caller's stack; tasks that it awaits then run from the queue.
// For writers of awaitables: `await_suspend(std::coroutine_handle<>)` keeps the handle, the event calls this.
inline void resume(std::coroutine_handle<> handle) { handle.resume(); }

}  // namespace signet
