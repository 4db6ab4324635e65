#pragma once
#include <monomorph/core/rule.hpp>
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
/// No replicas: no budget says how many there are. A single one is a group of one.
template <int n, std::int64_t replicas> struct HybridGroupDividesRanks {
  static constexpr bool holds = n < 1 || replicas <= 1 || replicas % n == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-02] n of HybridShard<n> or HybridShardGradOp<n> must divide the data-parallel ranks, "
                  "budget.ranks / (tp pp cp); change n or Budget::ranks (docs/rules.md#shard-02)");
  }
};

/// What a policy says of itself.
template <bool gathers_params, bool releases_after_forward> struct ReleasesWhatItGathers {
  static constexpr bool holds = gathers_params || !releases_after_forward;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-04] a sharding policy must have gathers_params where it has releases_after_forward: what is "
                  "released must come again; change the sharding policy (docs/rules.md#shard-04)");
  }
};
template <bool gathers_params, int dp, int param_shards> struct GathersWhatItSplits {
  static constexpr bool holds = gathers_params || param_shards <= 1;
  static consteval void explain() {
    static_assert(
        holds,
        "[SHARD-05] a sharding policy must have gathers_params where param_shards(dp) is above 1: no rank has "
        "a whole unit; change the sharding policy (docs/rules.md#shard-05)");
  }
};
template <int dp, int param_shards, int gradient_shards, int optimizer_shards> struct SplitsAllAlike {
  static constexpr bool holds = gradient_shards == param_shards && optimizer_shards == param_shards;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-06] gradient_shards(dp) and optimizer_shards(dp) must be param_shards(dp) in this release, "
                  "whose step splits all three alike; change the sharding policy (docs/rules.md#shard-06)");
  }
};
template <int dp, int param_shards> struct ShardsWithinRanks {
  static constexpr bool holds = 1 <= param_shards && param_shards <= dp;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-07] param_shards(dp) must lie in 1..dp; change the sharding policy (docs/rules.md#shard-07)");
  }
};
/// No replicas: no budget says how many there are.
template <std::int64_t replicas, int param_shards> struct ShardsDivideRanks {
  static constexpr bool holds =
      replicas < 1 || param_shards < 1 || param_shards > replicas || replicas % param_shards == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-08] param_shards(dp) must divide the data-parallel ranks, budget.ranks / (tp pp cp); change "
                  "sharding or Budget::ranks (docs/rules.md#shard-08)");
  }
};

/// The first number of ranks for which a policy's parts do not fit, or 1.
template <class P> constexpr int first_ranks(auto&& fits) {
  for (int dp = 1; dp <= 64; dp *= 2)
    if (!fits(dp)) return dp;
  return 1;
}
template <class R> consteval auto sharding_rules() {
  using P = typename R::sharding;
  constexpr bool is_hybrid = requires { P::group; };  // SHARD-01 and SHARD-02 are about its groups
  constexpr int split = first_ranks<P>([](int dp) { return P::param_shards(dp) <= 1; });
  constexpr int unlike = first_ranks<P>([](int dp) {
    return P::gradient_shards(dp) == P::param_shards(dp) && P::optimizer_shards(dp) == P::param_shards(dp);
  });
  constexpr int beyond =
      first_ranks<P>([](int dp) { return is_hybrid || (1 <= P::param_shards(dp) && P::param_shards(dp) <= dp); });
  constexpr std::int64_t replicas = is_hybrid ? 0 : budgeted_replicas<R>;
  return RuleList<
      ReleasesWhatItGathers<P::gathers_params, P::releases_after_forward>,
      GathersWhatItSplits<P::gathers_params, split, P::param_shards(split)>,
      SplitsAllAlike<unlike, P::param_shards(unlike), P::gradient_shards(unlike), P::optimizer_shards(unlike)>,
      ShardsWithinRanks<beyond, is_hybrid ? 1 : P::param_shards(beyond)>,
      ShardsDivideRanks<replicas, P::param_shards(replicas > 0 ? static_cast<int>(replicas) : 1)>>{};
}

/// A wrapper's.
template <bool reduces_every_micro_batch> struct ReducesOftenAlone {
  static constexpr bool holds = reduces_every_micro_batch;
  static consteval void explain() {
    static_assert(holds,
                  "[SHARD-10] ReduceOncePerStep<Strategy> must have a strategy that reduces every micro-batch: another "
                  "does it once anyway; change sharding to the strategy alone (docs/rules.md#shard-10)");
  }
};

template <class R, int n>
using HybridRules = RuleList<HybridGroupPositive<n>, HybridGroupDividesRanks<n, budgeted_replicas<R>>>;

}  // namespace monomorph::rule
