// A redemption store in a few lines, without a limit. For tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <signet/base/digest.h>
#include <signet/base/executor.h>
#include <signet/base/result.h>
#include <signet/base/task.h>
#include <signet/token/redemption.h>

namespace signet::testing {

// What a store remembers of claims; what is finished, abandoned or asked for was claimed before.
class Claims {
 public:
  token::ClaimOutcome claim(const token::Claim& claim) {
    const auto [kept, is_new] = kept_.try_emplace(claim.token, Kept(claim.answers));
    if (is_new) return token::ClaimOutcome::won;
    if (!claim.keep_reply || kept->second.answers != claim.answers) return token::ClaimOutcome::lost;
    return kept->second.reply ? token::ClaimOutcome::finished : token::ClaimOutcome::pending;
  }
  void finish(const token::Claim& claim, std::string reply) {
    kept_.at(claim.token).reply = std::move(reply);
  }
  void abandon(const token::Claim& claim) { kept_.erase(claim.token); }
  std::optional<std::string> reply(const token::Claim& claim) const { return kept_.at(claim.token).reply; }
  void clear() { kept_.clear(); }
  // As they were given, in any order.
  std::vector<std::string*> replies() {
    std::vector<std::string*> all;
    for (auto& [token, kept] : kept_) {
      if (kept.reply) all.push_back(&*kept.reply);
    }
    return all;
  }

 private:
  struct Kept {
    explicit Kept(Digest given_answers) : answers(given_answers) {}
    Digest answers;
    std::optional<std::string> reply;
  };
  std::map<token::TokenId, Kept> kept_;
};

// That of one process, which answers at once.
class ClaimsStore final : public token::RedemptionStore {
 public:
  bool broken = false;  // claims find it away
  bool lasts = true;    // as a store of several processes does

  void clear() { claims_.clear(); }
  std::vector<std::string*> replies() { return claims_.replies(); }

  Task<Result<token::ClaimOutcome>> claim(token::Claim claim, Executor& /*executor*/) override {
    if (broken) co_return failure("the store is away");
    co_return claims_.claim(claim);
  }
  Task<Result<void>> finish(token::Claim claim, std::string reply, Executor& /*executor*/) override {
    claims_.finish(claim, std::move(reply));
    co_return Result<void>();
  }
  Task<Result<void>> abandon(token::Claim claim, Executor& /*executor*/) override {
    claims_.abandon(claim);
    co_return Result<void>();
  }
  Task<Result<std::optional<std::string>>> reply(token::Claim claim, Executor& /*executor*/) override {
    co_return claims_.reply(claim);
  }
  bool outlives_process() const override { return lasts; }

 private:
  Claims claims_;
};

}  // namespace signet::testing
