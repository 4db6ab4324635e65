#pragma once
#include <monomorph/policy/sharding_policy.hpp>
#include <monomorph/rule/sharding_rules.hpp>

namespace monomorph::sharding {

/// Another strategy, with gradients reduced once per step instead of once per micro-batch: less traffic where gradients
/// are accumulated, for memory in which every rank keeps the gradients of all units whole. As FSDP's `no_sync`.
template <class Strategy> struct ReduceOncePerStep : Strategy {};  // not a policy: the gate says what it lacks
template <ShardingPolicy Strategy> struct ReduceOncePerStep<Strategy> : Strategy {
  static constexpr bool splits_gradients = false;
  template <class R>
  using rules = decltype(exported_rules<Strategy, R>() +
                         RuleList<rule::ReducesOftenAlone<Strategy::splits_gradients>>{});
};

}  // namespace monomorph::sharding
