#pragma once
#include <concepts>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// Into how many parts the data-parallel ranks (dp of them) split each unit's master copy and optimiser state, and
/// whether they split its parameters between one use and the next, and its gradients between one micro-batch and the
/// next, into as many, or not at all. A policy may export `template <class R> using rules = RuleList<…>`.
struct ShardingAxis {
  MONOMORPH_REQUIRED_AXIS(sharding, "monomorph::sharding::FullShard")
  template <class P> struct Parts {
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
    static constexpr bool all_hold = is_named<P> && param_shards && gradient_shards && optimizer_shards;
    static consteval void explain() {
      static_assert(is_named<P>,
                    "[SHARD-03] a sharding policy must have `static constexpr std::string_view name` "
                    "(docs/rules.md#shard-03)");
      static_assert(param_shards,
                    "[SHARD-03] a sharding policy must have `static constexpr int param_shards(int dp)`: into how many "
                    "parts ranks split a unit's parameters between its uses (docs/rules.md#shard-03)");
      static_assert(gradient_shards,
                    "[SHARD-03] a sharding policy must have `static constexpr int gradient_shards(int dp)`: into how "
                    "many parts ranks split a unit's gradients between micro-batches (docs/rules.md#shard-03)");
      static_assert(optimizer_shards,
                    "[SHARD-03] a sharding policy must have `static constexpr int optimizer_shards(int dp)`: into how "
                    "many parts ranks split a unit's master copy and optimizer state (docs/rules.md#shard-03)");
    }
  };
};
template <class P> concept ShardingPolicy = Fits<ShardingAxis, P>;

namespace detail {
constexpr bool ever_splits(auto&& parts) {
  for (int dp = 2; dp <= 64; ++dp)
    if (parts(dp) > 1) return true;
  return false;
}
}  // namespace detail

/// What a policy splits on some number of ranks. What it never splits is not in the program.
template <class P>
inline constexpr bool splits_parameters = detail::ever_splits([](int dp) { return P::param_shards(dp); });
template <class P>
inline constexpr bool splits_gradients = detail::ever_splits([](int dp) { return P::gradient_shards(dp); });
template <class P>
inline constexpr bool splits_optimizer = detail::ever_splits([](int dp) { return P::optimizer_shards(dp); });

}  // namespace monomorph
