#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::sharding {

/// ZeRO-2: parameters stay whole between forward and backward; gradients and optimiser state are split.
struct ShardGradOp {
  static constexpr std::string_view name = "ShardGradOp";
  static constexpr bool gathers_params = true;
  static constexpr bool releases_after_forward = false;
  static constexpr bool reduces_every_micro_batch = true;
  static constexpr int param_shards(int dp) { return dp; }
  static constexpr int gradient_shards(int dp) { return dp; }
  static constexpr int optimizer_shards(int dp) { return dp; }
};
static_assert(ShardingPolicy<ShardGradOp>);

}  // namespace monomorph::sharding
