#pragma once
#include <monomorph/data/bpe/merge_rule.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// Where a word can be cut before its tokens are merged: between two tokens that no merged token has side by side.
class MergeJoints {
 public:
  explicit MergeJoints(std::span<const MergeRule> rules = {});

  /// False only if no merge ever makes one token of what ends in `left` and what begins with `right`, which stand in a
  /// word to which no merge was applied.
  bool may_join(TokenPair pair) const {
    return joins_all_ || is_made(pair.left) || is_made(pair.right) || joints_.find(pair) != nullptr;
  }

 private:
  bool is_made(std::int32_t token) const {
    return static_cast<std::size_t>(token) < made_.size() && made_[static_cast<std::size_t>(token)];
  }

  std::vector<bool> made_;  ///< by token: whether a merge makes it
  PairTable<bool> joints_;
  bool joins_all_ = false;  ///< the rules do not tell, so any two tokens may be joined
};

}  // namespace monomorph::data
