// Questions on the event loop, a person on the main thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include <signet/base/executor.h>
#include <signet/base/one_shot.h>
#include <signet/base/task.h>
#include <signet/client/types.h>
#include <signet/client/wait.h>

namespace signet::cli {

// Runs tasks on the executor while the calling thread answers what their handlers are asked. One at a time.
class Conversation {
 public:
  // `answer` is called on the thread that calls `run`, and may block.
  Conversation(Executor& executor, std::function<Answer(const Question&)> answer)
      : executor_(executor), answer_(std::move(answer)) {}

  // A handler for ClientOptions. The conversation outlives its use.
  QuestionHandler handler() {
    return [this](Question question) { return ask(*this, std::move(question)); };
  }

  template <typename T>
  T run(Task<T> task) {
    {
      const std::lock_guard lock(mutex_);
      finished_ = false;
    }
    std::future<T> result = start(executor_, watched(*this, std::move(task)));
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return finished_ || !questions_.empty(); });
      if (questions_.empty()) break;
      Open open = std::move(questions_.front());
      questions_.pop_front();
      lock.unlock();
      Answer answer = answer_(open.question);
      executor_.post([answered = open.answered, answer = std::move(answer)] { answered.set(answer); });
    }
    return result.get();
  }

 private:
  struct Open {
    Question question;
    OneShot<Answer> answered;
  };

  static Task<Answer> ask(Conversation& self, Question question) {
    const OneShot<Answer> answered;
    {
      const std::lock_guard lock(self.mutex_);
      self.questions_.push_back(Open{std::move(question), answered});
    }
    self.changed_.notify_one();
    Answer answer = co_await answered;
    co_return answer;
  }

  template <typename T>
  static Task<T> watched(Conversation& self, Task<T> task) {
    T result = co_await task;
    {
      const std::lock_guard lock(self.mutex_);
      self.finished_ = true;
    }
    self.changed_.notify_one();
    co_return result;
  }

  Executor& executor_;
  std::function<Answer(const Question&)> answer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Open> questions_;
  bool finished_ = false;
};

}  // namespace signet::cli
