#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::sharding {

/// ZeRO-3: a rank holds 1/dp of every unit, which is gathered for each use and released after it.
struct FullShard {
  static constexpr bool splits_parameters = true;
  static constexpr bool splits_gradients = true;
  static constexpr int optimizer_shards(int dp) { return dp; }
};

}  // namespace monomorph::sharding
