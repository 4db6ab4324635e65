#pragma once
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::sharding {

/// DDP: every rank holds everything; gradients are all-reduced once per step.
struct Replicate {
  static constexpr bool splits_parameters = false;
  static constexpr bool splits_gradients = false;
  static constexpr int optimizer_shards(int /*dp*/) { return 1; }
};

}  // namespace monomorph::sharding
