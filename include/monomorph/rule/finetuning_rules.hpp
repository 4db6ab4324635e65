#pragma once
#include <cstdint>
#include <monomorph/block/layers.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph::rule {

template <bool trains_something> struct TrainsSomething {
  static constexpr bool holds = trains_something;
  static consteval void explain() {
    static_assert(holds,
                  "[FREEZE-03] finetuning must train some unit, and a tied head is trained as the embedding is; change "
                  "finetuning or tied_head (docs/rules.md#freeze-03)");
  }
};
/// Of the layers around the blocks. One that shares the first unit is trained with it.
template <class P, class Layer>
inline constexpr bool trains_around_blocks =
    unit_kind<Layer> != UnitKind::block && !shares_first_unit<Layer> && P::trains(unit_kind<Layer>, 0);
template <class R, class... Runs> consteval bool trains_some_layer_around_blocks(Stack<Runs...>) {
  return (trains_around_blocks<finetuning_of<R>, typename Runs::template block<R>> || ...);
}
template <class P> consteval bool trains_some_block(std::int64_t n_layers) {
  constexpr std::int64_t limit = 256;  // MODEL-01: as many layers as a model may have
  for (int block = 0; block < n_layers && block < limit; ++block)
    if (P::trains(UnitKind::block, block)) return true;
  return false;
}
template <class R> consteval auto finetuning_rules() {
  constexpr std::int64_t n_layers = trunk_of<R>.n_layers.value;
  constexpr bool around_blocks = trains_some_layer_around_blocks<R>(LayersOf<R>{});
  return RuleList<TrainsSomething<(n_layers < 1) || around_blocks || trains_some_block<finetuning_of<R>>(n_layers)>>{};
}

}  // namespace monomorph::rule
