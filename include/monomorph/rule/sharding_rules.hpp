#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/optimizer_policy.hpp>
#include <monomorph/policy/sharding_policy.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph::rule {

template <int n> struct HybridGroupPositive {
  static constexpr bool holds = n > 0;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-01] HybridShard<n> and HybridShardGradOp<n> must have groups of n >= 1 ranks; change n "
                  "(docs/rules.md#shard-01)");
  }
};
/// `replicas` is 0 where no budget says how many there are. A single one is a group of one.
template <int n, std::int64_t replicas> struct HybridGroupDividesRanks {
  static constexpr bool holds = n < 1 || replicas <= 1 || replicas % n == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-02] n of HybridShard<n> or HybridShardGradOp<n> must divide the data-parallel ranks, "
                  "budget.ranks / (tp pp cp); change n or Budget::ranks (docs/rules.md#shard-02)");
  }
};

template <int group, int dp, int optimizer_shards> struct GroupsAreShards {
  static constexpr bool holds = group < 1 || optimizer_shards == (dp < group ? dp : group);
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-14] optimizer_shards(dp) of a sharding policy that has a group must be the smaller one of "
                  "group and dp, as the ranks of a group hold one copy together; change the sharding policy "
                  "(docs/rules.md#shard-14)");
  }
};

/// Compares what a policy says of itself.
template <bool splits_optimizer, bool splits_parameters, bool splits_gradients> struct SplitsOptimizerFirst {
  static constexpr bool holds = splits_optimizer || (!splits_parameters && !splits_gradients);
  static consteval void explain() {
    static_assert(
        holds,
        "[SHARD-11] a sharding policy must have optimizer_shards(dp) above 1 for some dp of 2..4096 where it has "
        "splits_parameters or splits_gradients, which are split into as many parts; change the sharding policy "
        "(docs/rules.md#shard-11)");
  }
};
template <int dp, int optimizer_shards> struct ShardsWithinRanks {
  static constexpr bool holds = 1 <= optimizer_shards && optimizer_shards <= dp;
  static consteval void explain() {
    static_assert(
        holds,
        "[SHARD-07] optimizer_shards(dp) must lie in 1..dp; change the sharding policy (docs/rules.md#shard-07)");
  }
};
/// `replicas` is 0 where no budget says how many there are.
template <std::int64_t replicas, int optimizer_shards> struct ShardsDivideRanks {
  static constexpr bool holds =
      replicas < 1 || optimizer_shards < 1 || optimizer_shards > replicas || replicas % optimizer_shards == 0;
  static consteval void explain() {
    static_assert(
        holds,
        "[SHARD-08] optimizer_shards(dp) must divide the data-parallel ranks, budget.ranks / (tp pp cp); change "
        "sharding or Budget::ranks (docs/rules.md#shard-08)");
  }
};

/// The first number of ranks for which a policy's parts do not fit, or 1.
constexpr int first_ranks(auto&& fits) {
  for (int dp = 1; dp <= 64; ++dp)
    if (!fits(dp)) return dp;
  return 1;
}
template <class P>
inline constexpr int first_ranks_of_other_shards = first_ranks([](int dp) {
  return P::optimizer_shards(dp) == (dp < P::group ? dp : P::group);
});
template <class P>
inline constexpr int first_ranks_of_no_shards = first_ranks([](int dp) {
  return 1 <= P::optimizer_shards(dp) && P::optimizer_shards(dp) <= dp;
});
/// Of a policy that has a `group`, whose shards follow from it.
template <class P, class R> consteval auto group_rules() {
  constexpr int differing = first_ranks_of_other_shards<P>;
  return RuleList<HybridGroupPositive<P::group>, HybridGroupDividesRanks<P::group, budgeted_replicas<R>>,
                  GroupsAreShards<P::group, differing, P::optimizer_shards(differing)>>{};
}
/// Of another policy.
template <class P, class R> consteval auto shard_rules() {
  constexpr int beyond = first_ranks_of_no_shards<P>;
  constexpr std::int64_t replicas = budgeted_replicas<R>;
  constexpr bool splits = beyond != 1 || splits_optimizer<P>;  // others break SHARD-07
  return RuleList<SplitsOptimizerFirst<splits, P::splits_parameters, P::splits_gradients>,
                  ShardsWithinRanks<beyond, P::optimizer_shards(beyond)>,
                  ShardsDivideRanks<replicas, P::optimizer_shards(replicas > 0 ? static_cast<int>(replicas) : 1)>>{};
}
template <class R> consteval auto sharding_rules() {
  using P = typename R::sharding;
  if constexpr (ShardingAxis::Look::has_group<P>)
    return group_rules<P, R>();
  else
    return shard_rules<P, R>();
}

/// The rule of the wrapper ReduceOncePerStep.
template <bool splits_gradients> struct ReducesOftenAlone {
  static constexpr bool holds = splits_gradients;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-10] ReduceOncePerStep<Strategy> must have a strategy that reduces every micro-batch: another "
                  "does it once anyway; change sharding to the strategy alone (docs/rules.md#shard-10)");
  }
};

/// The rules of the wrapper HostParameters.
template <class Strategy, bool splits_optimizer, bool splits_parameters> struct HostParametersAreOwn {
  static constexpr bool holds = splits_parameters || !splits_optimizer;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-12] HostParameters<Strategy> must have Replicate, or a strategy that splits the parameters, "
                  "too: what a rank keeps on the host is its own part of them; change the strategy "
                  "(docs/rules.md#shard-12)");
  }
};
template <class Optimizer, MemorySpace state_space> struct HostParametersHaveHostState {
  static constexpr bool holds = state_space == MemorySpace::host;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-13] where the parameters of compute lie on the host the optimizer's state must, too, as both "
                  "come to the device for the update; write `using optimizer = monomorph::optim::HostState<...>;`, or "
                  "leave HostParameters out (docs/rules.md#shard-13)");
  }
};
template <class Strategy, class R>
using HostParametersRules =
    RuleList<HostParametersAreOwn<Strategy, splits_optimizer<Strategy>, bool{Strategy::splits_parameters}>,
             HostParametersHaveHostState<typename R::optimizer, state_space<typename R::optimizer>>>;

}  // namespace monomorph::rule
