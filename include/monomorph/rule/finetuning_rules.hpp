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
template <class R, class... Runs> consteval bool trains_around_blocks(Stack<Runs...>) {
  const auto trains = [](UnitKind kind, bool shares) {
    return kind != UnitKind::block && !shares && finetuning_of<R>::trains(kind, 0);
  };
  return (trains(unit_kind<typename Runs::template block<R>>, shares_first_unit<typename Runs::template block<R>>) ||
          ...);
}
template <class R> consteval auto finetuning_rules() {
  using P = finetuning_of<R>;
  constexpr bool around_blocks = trains_around_blocks<R>(LayersOf<R>{});
  constexpr bool some_block = [] {
    constexpr std::int64_t limit = 256;  // MODEL-01: as many layers as a model may have
    for (int block = 0; block < trunk_of<R>.n_layers.value && block < limit; ++block)
      if (P::trains(UnitKind::block, block)) return true;
    return false;
  }();
  return RuleList < TrainsSomething<trunk_of<R>.n_layers.value<1 || around_blocks || some_block>>{};
}

}  // namespace monomorph::rule
