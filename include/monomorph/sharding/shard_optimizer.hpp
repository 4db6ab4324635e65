#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::sharding {

/// ZeRO-1 (Rajbhandari et al. 2020, section 5.1): every rank computes with all parameters and adds up whole gradients,
/// of which each rank has a part of the sum once per step; master copy and optimiser state are split, and each rank
/// updates its part of the parameters and collects those of the others.
struct ShardOptimizer {
  static constexpr bool splits_parameters = false;
  static constexpr bool splits_gradients = false;
  static constexpr int optimizer_shards(int dp) { return dp; }
};

}  // namespace monomorph::sharding
