#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::sharding {

/// ZeRO-2: parameters stay whole; gradients, reduced after every micro-batch, and optimiser state are split.
struct ShardGradOp {
  static constexpr bool splits_parameters = false;
  static constexpr bool splits_gradients = true;
  static constexpr int optimizer_shards(int dp) { return dp; }
};

}  // namespace monomorph::sharding
