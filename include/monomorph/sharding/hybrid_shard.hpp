#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::sharding {

/// ZeRO-3 within groups of n ranks, replicated between the groups. A single rank is a group of one.
template <int n> struct HybridShard {
  static constexpr int group = n;
  static constexpr bool splits_parameters = true;
  static constexpr bool splits_gradients = true;
  static constexpr int optimizer_shards(int dp) { return dp < n ? dp : n; }
};

}  // namespace monomorph::sharding
