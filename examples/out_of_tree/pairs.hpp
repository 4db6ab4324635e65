#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace stranger {

/// Ranks keep the optimizer's state in pairs, half of it each, and all the rest whole: ZeRO-1 within pairs. An odd
/// number of ranks has no pairs.
struct Pairs {
  static constexpr bool splits_parameters = false;
  static constexpr bool splits_gradients = false;
  static constexpr int optimizer_shards(int dp) { return dp % 2 == 0 ? 2 : 1; }
};
static_assert(monomorph::ShardingPolicy<Pairs>);

}  // namespace stranger
