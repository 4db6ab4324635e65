#pragma once
#include <concepts>
#include <monomorph/core/memory_space.hpp>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// Into how many parts the data-parallel ranks (dp of them) split each unit's master copy and optimiser state, and
/// whether into as many its parameters between one use and the next, and its gradients between one micro-batch and the
/// next. A policy may say `static constexpr MemorySpace parameter_space`, where a rank's part of the parameters lies
/// between its uses, and `static constexpr int group`, how many ranks hold one copy together; it may export `template
/// <class R> using rules = RuleList<…>`.
struct ShardingAxis {
  MONOMORPH_REQUIRED_AXIS(sharding, "monomorph::sharding::FullShard")
  MONOMORPH_LOOK_UPS(Look, parameter_space, group);
  template <class P> struct Parts {
    static constexpr bool splits_parameters = MONOMORPH_HAS_CONSTANT(bool, splits_parameters);
    static constexpr bool splits_gradients = MONOMORPH_HAS_CONSTANT(bool, splits_gradients);
    static constexpr bool optimizer_shards = requires(int dp) {
      { P::optimizer_shards(dp) } -> std::same_as<int>;
      typename Constant<P::optimizer_shards(1)>;
    };
    static constexpr bool parameter_space =
        !Look::has_parameter_space<P> || MONOMORPH_HAS_CONSTANT(MemorySpace, parameter_space);
    static constexpr bool group = !Look::has_group<P> || MONOMORPH_HAS_CONSTANT(int, group);
    static constexpr bool all_hold =
        splits_parameters && splits_gradients && optimizer_shards && parameter_space && group;
    static consteval void explain() {
      static_assert(splits_parameters,
                    "[SHARD-03] a sharding policy must have `static constexpr bool splits_parameters`: ranks split a "
                    "unit's parameters between its uses, too (docs/rules.md#shard-03)");
      static_assert(splits_gradients,
                    "[SHARD-03] a sharding policy must have `static constexpr bool splits_gradients`: ranks split a "
                    "unit's gradients between micro-batches, too (docs/rules.md#shard-03)");
      static_assert(optimizer_shards,
                    "[SHARD-03] a sharding policy must have `static constexpr int optimizer_shards(int dp)`: into how "
                    "many parts ranks split a unit's master copy and optimizer state (docs/rules.md#shard-03)");
      static_assert(parameter_space,
                    "[SHARD-03] a sharding policy's parameter_space, if it has one, must be `static constexpr "
                    "monomorph::MemorySpace parameter_space`: where a rank's part of the parameters lies between its "
                    "uses (docs/rules.md#shard-03)");
      static_assert(group,
                    "[SHARD-03] a sharding policy's group, if it has one, must be `static constexpr int group`: the "
                    "ranks that hold one copy together, of which SHARD-01 and SHARD-02 say more "
                    "(docs/rules.md#shard-03)");
    }
  };
};
template <class P> concept ShardingPolicy = Fits<ShardingAxis, P>;

/// Where a rank's part of the parameters that compute reads lies between its uses.
template <class P>
inline constexpr MemorySpace parameter_space = [] {
  if constexpr (ShardingAxis::Look::has_parameter_space<P>) return P::parameter_space;
  return MemorySpace::device;
}();

/// Whether a policy splits anything on some number of ranks. The program has no code for what its policy never splits.
inline constexpr int most_ranks_looked_at = 4096;
template <class P>
inline constexpr bool splits_optimizer = [] {
  for (int dp = 2; dp <= most_ranks_looked_at; ++dp)
    if (P::optimizer_shards(dp) > 1) return true;
  return false;
}();

}  // namespace monomorph
