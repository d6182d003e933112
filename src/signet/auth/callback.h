// Callers whom the program itself recognises.
#pragma once

#include <functional>
#include <utility>

#include <signet/protocol/authenticator.h>

namespace signet::auth {

// Asks a function: a token introspection, a session of the program's own, a test. The function is called on the loop's
// thread of the transport and may wait for what it likes, without blocking; it is as thread-safe as it must be.
class CallbackAuthenticator final : public Authenticator {
 public:
  using Function = std::function<Task<Result<Principal, Challenge>>(const CallerHeaders& caller)>;

  explicit CallbackAuthenticator(Function function) : function_(std::move(function)) {}

  Task<Result<Principal, Challenge>> authenticate(const CallerHeaders& caller) override {
    return function_(caller);
  }

 private:
  Function function_;
};

}  // namespace signet::auth
