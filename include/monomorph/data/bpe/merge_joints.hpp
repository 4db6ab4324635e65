#pragma once
#include <monomorph/data/bpe/merge_rule.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// Where a word can be cut before it is merged: between two tokens that are side by side within none that merges make.
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

  std::vector<bool> made_;  ///< by token: by a merge, so that its ends are others
  PairTable<bool> joints_;
  bool joins_all_ = false;  ///< the rules are such that nothing can be said
};

}  // namespace monomorph::data
