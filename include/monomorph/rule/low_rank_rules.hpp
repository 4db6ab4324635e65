#pragma once
#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/units.hpp>
#include <utility>

/// What a recipe with low-rank adapters must be, judged when the layouts are known. What their spec alone can break is
/// judged in finetuning/low_rank.hpp.
namespace monomorph::rule {

template <LowRankTarget target, bool has_some> struct TargetIsInSomeBlock {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-05] every target of adapters must be a product of some block: `gate` is one of a gated "
                  "activation alone, experts have none, and neither have blocks of your own that declare no adapters; "
                  "change LowRankSpec::targets (docs/rules.md#lora-05)");
  }
};

template <class R> constexpr bool adapts_in_some_block(LowRankTarget target) {
  for (int unit = 0; unit < plan::n_units<R>; ++unit)
    for (const ParameterLayout layout = plan::unit_layout<R>(unit); const TensorInfo& tensor : layout)
      if (tensor.name == names_of(target).a) return true;
  return false;
}
template <class R, LowRankTarget target>
inline constexpr bool target_is_there = !adapts(low_rank_targets<R>, target) || adapts_in_some_block<R>(target);

template <class R, int... target> consteval auto each_target(std::integer_sequence<int, target...>) {
  return RuleList<TargetIsInSomeBlock<LowRankTarget{target}, target_is_there<R, LowRankTarget{target}>>...>{};
}
template <class R> consteval auto adapter_rules() {
  if constexpr (HasAdapters<R>)
    return each_target<R>(std::make_integer_sequence<int, n_low_rank_targets>{});
  else
    return RuleList<>{};
}

}  // namespace monomorph::rule
