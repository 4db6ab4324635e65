#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph::rule {

template <int n> struct HybridGroupPositive {
  static constexpr bool holds = n > 0;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-01] HybridShard<n> and HybridShardGradOp<n> must have groups of n >= 1 ranks; change n "
                  "(docs/rules.md#shard-01)");
  }
};
/// No replicas: no budget says how many there are. A single one is a group of one.
template <int n, std::int64_t replicas> struct HybridGroupDividesRanks {
  static constexpr bool holds = n < 1 || replicas <= 1 || replicas % n == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-02] n of HybridShard<n> or HybridShardGradOp<n> must divide the data-parallel ranks, "
                  "budget.ranks / (tp pp cp); change n or Budget::ranks (docs/rules.md#shard-02)");
  }
};
template <class R, int n>
using HybridRules = RuleList<HybridGroupPositive<n>, HybridGroupDividesRanks<n, budgeted_replicas<R>>>;

}  // namespace monomorph::rule
