#pragma once
#include <monomorph/core/rule.hpp>

namespace monomorph::rule {

template <int n> struct HybridGroupPositive {
  static constexpr bool holds = n > 0;
  static consteval void explain() {
    static_assert(holds, "[SHARD-01] HybridShard<n> must have groups of n >= 1 ranks; change n (docs/rules.md#shard-01)");
  }
};

}  // namespace monomorph::rule
