#pragma once
#include <concepts>
#include <string_view>

namespace monomorph {

/// Where a unit's parameters, gradients and optimiser state live among the data-parallel ranks (dp of them).
template <class P> concept ShardingPolicy = requires(int dp) {
  { P::name } -> std::convertible_to<std::string_view>;
  { P::gathers_params } -> std::convertible_to<bool>;          // parameters are gathered before forward, released after
  { P::releases_after_forward } -> std::convertible_to<bool>;  // backward, and after forward too
  { P::reduces_every_micro_batch } -> std::convertible_to<bool>;  // and not once per step, from whole gradients
  { P::param_shards(dp) } -> std::same_as<int>;      // into how many parts ranks split a unit's parameters,
  { P::gradient_shards(dp) } -> std::same_as<int>;   // its reduced gradients,
  { P::optimizer_shards(dp) } -> std::same_as<int>;  // its master copy and moments
};

}  // namespace monomorph
