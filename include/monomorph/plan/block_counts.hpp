#pragma once
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/plan/units.hpp>

/// What blocks declare besides what backward needs: auxiliary losses, and integers that they count in a step, or of
/// which they take the greatest.
namespace monomorph::plan {

/// Integers that a block counts in a step, over all ranks, for the update of its state.
template <class Block>
inline constexpr int counters_of = [] {
  if constexpr (requires { Block::n_counters; }) return int{Block::n_counters};
  return 0;
}();
/// Integers of which a block takes the greatest in a step, over all ranks: of the tensors that its products round.
template <class Block>
inline constexpr int maxima_of = [] {
  if constexpr (requires { Block::n_maxima; }) return int{Block::n_maxima};
  return 0;
}();
template <class Block>
inline constexpr bool has_auxiliary_loss = [] {
  if constexpr (requires { Block::has_auxiliary_loss; }) return bool{Block::has_auxiliary_loss};
  return false;
}();

namespace detail {
template <class R, class... Runs> constexpr int counters_of_runs(const boost::hana::tuple<Runs...>&) {
  return (0 + ... + (Runs::length * counters_of<typename Runs::template block<R>>));
}
template <class R, class... Runs> constexpr int maxima_of_runs(const boost::hana::tuple<Runs...>&) {
  return (0 + ... + (Runs::length * maxima_of<typename Runs::template block<R>>));
}
template <class R, class... Runs> constexpr bool some_run_has_loss(const boost::hana::tuple<Runs...>&) {
  return (... || has_auxiliary_loss<typename Runs::template block<R>>);
}
}  // namespace detail
/// How many integers all layers count together, and of how many maxima they keep track.
template <class R> inline constexpr int n_counters = detail::counters_of_runs<R>(LayersOf<R>::runs);
template <class R> inline constexpr int n_maxima = detail::maxima_of_runs<R>(LayersOf<R>::runs);

/// Where the counters of each layer begin among those of all.
template <class R>
inline constexpr auto first_counter = [] {
  std::array<int, n_layers<R> + 1> first{};
  for (int i = 0; i < n_layers<R>; ++i)
    with_layer<R>(i, [&](auto layer) { first[i + 1] = first[i] + counters_of<decltype(layer)>; });
  return first;
}();

/// The same for their maxima.
template <class R>
inline constexpr auto first_maximum = [] {
  std::array<int, n_layers<R> + 1> first{};
  for (int i = 0; i < n_layers<R>; ++i)
    with_layer<R>(i, [&](auto layer) { first[i + 1] = first[i] + maxima_of<decltype(layer)>; });
  return first;
}();

template <class R> inline constexpr bool any_auxiliary_loss = detail::some_run_has_loss<R>(LayersOf<R>::runs);

/// What a step adds up and decides by: StepScalars (core/step_scalars.hpp), and the counters and maxima of all blocks.
inline constexpr std::int64_t step_scalars_bytes = 4608;
template <class R>
inline constexpr std::int64_t scalar_bytes = align_up(step_scalars_bytes / 8 + n_counters<R> + n_maxima<R>) * 8;
/// The words in which several ranks add them up.
template <class R> constexpr std::int64_t step_words(int dp) {
  const int n_metrics = static_cast<int>(metrics_of<objective_of<R>>.size());
  return dp > 1 ? StepWords::count(n_counters<R>, n_metrics, any_auxiliary_loss<R>, dp) : 0;
}

}  // namespace monomorph::plan
