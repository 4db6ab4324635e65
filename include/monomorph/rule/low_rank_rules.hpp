#pragma once
#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/units.hpp>
#include <utility>

/// What a recipe with low-rank adapters must be, whichever policy asks for them.
namespace monomorph::rule {

// Judged with the values. Real numbers are compared within the spec, which is a template argument as a whole.

template <int rank, std::int64_t d_model> struct RankWithinWidth {
  static constexpr bool holds = d_model < 1 || (1 <= rank && rank <= d_model);
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-01] the rank of adapters must lie in 1..d_model; change LowRankSpec::rank "
                  "(docs/rules.md#lora-01)");
  }
};
template <LowRankSpec spec> struct AlphaIsPositive {
  static constexpr bool holds = spec.alpha > 0 && spec.alpha < 1e30;
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-02] the alpha of adapters must be finite and above 0; change LowRankSpec::alpha "
                  "(docs/rules.md#lora-02)");
  }
};
template <LowRankSpec spec> struct AdapterDropoutIsProbability {
  static constexpr bool holds = spec.dropout >= 0 && spec.dropout < 1;
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-03] the dropout of adapters must lie in [0, 1); change LowRankSpec::dropout "
                  "(docs/rules.md#lora-03)");
  }
};
template <bool has_some> struct AdaptsSomething {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(holds,
                  "[LORA-04] adapters must have a target; set one in LowRankSpec::targets to true "
                  "(docs/rules.md#lora-04)");
  }
};

template <LowRankSpec low_rank> struct LowRankFields { static constexpr LowRankSpec spec = low_rank; };

/// Values are judged when all fields are given as they must be.
template <LowRankSpec spec, std::int64_t d_model> consteval auto rules_of_low_rank() {
  if constexpr (!FieldsFit<LowRankFields<spec>>::holds)
    return RuleList<FieldsFit<LowRankFields<spec>>>{};
  else
    return RuleList<RankWithinWidth<spec.rank.value, d_model>, AlphaIsPositive<spec>, AdapterDropoutIsProbability<spec>,
                    AdaptsSomething<spec.targets != LowRankTargets{.query = false, .value = false}>>{};
}

template <class R> consteval auto low_rank_rules() {
  if constexpr (HasAdapters<R>)
    return rules_of_low_rank<finetuning_of<R>::low_rank, trunk_of<R>.d_model.value>();
  else
    return RuleList<>{};
}

// Judged when the layouts are known.

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
  for (int unit = 0; unit < plan::n_units<R>; ++unit) {
    const ParameterLayout layout = plan::unit_layout<R>(unit);
    for (int i = 0; i < layout.size(); ++i)  // nvcc's front end knows no begin() and end() of it here
      if (layout[i].name == names_of(target).a) return true;
  }
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
