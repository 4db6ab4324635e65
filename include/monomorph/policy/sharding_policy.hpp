#pragma once
#include <concepts>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// Where a unit's parameters, gradients and optimiser state live among the data-parallel ranks (dp of them). A policy
/// may export `template <class R> using rules = RuleList<…>`.
struct ShardingAxis {
  MONOMORPH_REQUIRED_AXIS(sharding, "monomorph::sharding::FullShard")
  template <class P> struct Parts {
    static constexpr bool gathers_params = MONOMORPH_HAS_CONSTANT(bool, gathers_params);
    static constexpr bool releases_after_forward = MONOMORPH_HAS_CONSTANT(bool, releases_after_forward);
    static constexpr bool reduces_every_micro_batch = MONOMORPH_HAS_CONSTANT(bool, reduces_every_micro_batch);
    static constexpr bool param_shards = requires(int dp) {
      { P::param_shards(dp) } -> std::same_as<int>;
      typename Constant<P::param_shards(1)>;
    };
    static constexpr bool gradient_shards = requires(int dp) {
      { P::gradient_shards(dp) } -> std::same_as<int>;
      typename Constant<P::gradient_shards(1)>;
    };
    static constexpr bool optimizer_shards = requires(int dp) {
      { P::optimizer_shards(dp) } -> std::same_as<int>;
      typename Constant<P::optimizer_shards(1)>;
    };
    static constexpr bool all_hold = is_named<P> && gathers_params && releases_after_forward &&
                                     reduces_every_micro_batch && param_shards && gradient_shards && optimizer_shards;
    static consteval void explain() {
      static_assert(is_named<P>,
                    "[SHARD-03] a sharding policy must have `static constexpr std::string_view name` "
                    "(docs/rules.md#shard-03)");
      static_assert(gathers_params,
                    "[SHARD-03] a sharding policy must have `static constexpr bool gathers_params`: parameters are "
                    "gathered before forward and released after backward (docs/rules.md#shard-03)");
      static_assert(releases_after_forward,
                    "[SHARD-03] a sharding policy must have `static constexpr bool releases_after_forward`: parameters "
                    "are released after forward, too (docs/rules.md#shard-03)");
      static_assert(reduces_every_micro_batch,
                    "[SHARD-03] a sharding policy must have `static constexpr bool reduces_every_micro_batch`: "
                    "gradients are reduced then, and not once per step (docs/rules.md#shard-03)");
      static_assert(param_shards,
                    "[SHARD-03] a sharding policy must have `static constexpr int param_shards(int dp)`: into how many "
                    "parts ranks split a unit's parameters (docs/rules.md#shard-03)");
      static_assert(gradient_shards,
                    "[SHARD-03] a sharding policy must have `static constexpr int gradient_shards(int dp)`: into how "
                    "many parts ranks split a unit's reduced gradients (docs/rules.md#shard-03)");
      static_assert(optimizer_shards,
                    "[SHARD-03] a sharding policy must have `static constexpr int optimizer_shards(int dp)`: into how "
                    "many parts ranks split a unit's master copy and moments (docs/rules.md#shard-03)");
    }
  };
};
template <class P> concept ShardingPolicy = Fits<ShardingAxis, P>;

}  // namespace monomorph
