#pragma once
#include <cstdint>
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
template <class R> consteval auto finetuning_rules() {
  using P = finetuning_of<R>;
  constexpr bool embedding = P::trains(UnitKind::embedding, 0),
                 head = !trunk_of<R>.tied_head && P::trains(UnitKind::head, 0);
  constexpr bool some_block = [] {
    constexpr std::int64_t limit = 256;  // MODEL-01: as many layers as a model may have
    for (int block = 0; block < trunk_of<R>.n_layers.value && block < limit; ++block)
      if (P::trains(UnitKind::block, block)) return true;
    return false;
  }();
  return RuleList < TrainsSomething<trunk_of<R>.n_layers.value<1 || embedding || head || some_block>>{};
}

}  // namespace monomorph::rule
