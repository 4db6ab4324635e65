#pragma once
#include <monomorph/policy/sharding_policy.hpp>
#include <monomorph/rule/sharding_rules.hpp>

namespace monomorph::sharding {

/// Another strategy, with gradients reduced once per step instead of once per micro-batch: less traffic where gradients
/// are accumulated, for memory in which every rank keeps the gradients of all units whole. As FSDP's `no_sync`.
/// Not with `"reduction": "fixed_tree"`, whose terms are the micro-batches' reduced gradients [RANK-19].
template <ShardingPolicy Strategy> struct ReduceOncePerStep : Strategy {
  static constexpr bool reduces_every_micro_batch = false;
  template <class R>
  using rules = decltype(exported_rules<Strategy, R>() +
                         RuleList<rule::ReducesOftenAlone<Strategy::reduces_every_micro_batch>>{});
};

}  // namespace monomorph::sharding
