#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::sharding {

/// ZeRO-2: parameters stay whole; gradients, reduced after every micro-batch, and optimiser state are split.
struct ShardGradOp {
  static constexpr std::string_view name = "ShardGradOp";
  static constexpr int param_shards(int /*dp*/) { return 1; }
  static constexpr int gradient_shards(int dp) { return dp; }
  static constexpr int optimizer_shards(int dp) { return dp; }
};
static_assert(ShardingPolicy<ShardGradOp>);

}  // namespace monomorph::sharding
