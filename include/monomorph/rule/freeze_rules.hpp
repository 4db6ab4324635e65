#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/rule/finetuning_rules.hpp>
#include <monomorph/rule/low_rank_rules.hpp>
#include <monomorph/rule/nf4_rules.hpp>
#include <monomorph/rule/parameter_rules.hpp>

/// What a recipe that freezes single parameters must be, judged when the layouts are known.
namespace monomorph::rule {

template <int i, bool has_some, class Pattern, class NearestNames> struct FinetuningNamesParameters {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(
        holds,
        "[FREEZE-04] a pattern of finetuning must be that of a parameter, and this one is of none; the nearest "
        "names stand behind it; change the list of parameters (docs/rules.md#freeze-04)");
  }
};
template <int i, ParameterClass parameter_class, bool has_some> struct FinetuningClassHasParameters {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(holds,
                  "[FREEZE-05] the model must have parameters of a class that finetuning selects; change the list of "
                  "parameters (docs/rules.md#freeze-05)");
  }
};
/// @tparam unit, tensor where parameters that share a slice differ; -1 if none do
template <int unit, int tensor> struct SlicesFreezeWhole {
  static constexpr bool holds = unit < 0;
  static consteval void explain() {
    static_assert(holds,
                  "[FREEZE-06] parameters that kernels use as one matrix or vector, as those of q, k and v or of the "
                  "gate and the up projection, must be frozen together; change finetuning (docs/rules.md#freeze-06)");
  }
};
template <bool is_list> struct FinetuningListsParameters {
  static constexpr bool holds = is_list;
  static consteval void explain() {
    static_assert(
        holds,
        "[FREEZE-07] what finetuning::Freeze or TrainOnly is given must list parameters, as `static constexpr "
        "monomorph::ParameterSelector parameters[] = {\"embedding.*\"};` (docs/rules.md#freeze-07)");
  }
};

template <class P, int i> struct SelectedByFinetuning { static constexpr ParameterSelector value = P::selected[i]; };

/// The first tensor that is trained where another one of its slice is frozen, or the other way round.
struct DividedSlice {
  int unit = -1, tensor = -1;
};
template <class R>
inline constexpr DividedSlice divided_slice = [] {
  for (int unit = 0; unit < plan::n_units<R>; ++unit) {
    const ParameterLayout layout = plan::unit_layout<R>(unit);
    for (int i = 1; i < layout.size(); ++i)
      if (layout[i].storage == layout[i - 1].storage &&
          plan::trains_tensor<R>(unit, layout[i]) != plan::trains_tensor<R>(unit, layout[i - 1]))
        return DividedSlice{unit, i};
  }
  return DividedSlice{};
}();

template <class R, int i> consteval auto selector_rules() {
  using Selected = SelectedByFinetuning<finetuning_of<R>, i>;
  constexpr bool some = selects_some<R>(Selected::value);
  if constexpr (!Selected::value.by_name())
    return RuleList<FinetuningClassHasParameters<i, Selected::value.parameter_class, some>>{};
  else if constexpr (some)
    return RuleList<>{};
  else
    return RuleList<FinetuningNamesParameters<i, some, SpelledPattern<Selected>, NearestNames<R, Selected>>>{};
}
template <class R, int... i> consteval auto each_selector(std::integer_sequence<int, i...>) {
  return (RuleList<>{} + ... + selector_rules<R, i>());
}
template <class R> consteval auto selected_rules() {
  if constexpr (requires { finetuning_of<R>::selected; }) {
    constexpr int n = static_cast<int>(std::size(finetuning_of<R>::selected));
    return RuleList<FinetuningListsParameters<(n > 0)>>{} + each_selector<R>(std::make_integer_sequence<int, n>{});
  } else {
    return RuleList<>{};
  }
}
template <class R> consteval auto freeze_rules() {
  if constexpr (!plan::freezes_tensors<R>) {
    return RuleList<>{};
  } else if constexpr (!decltype(selected_rules<R>() + adapter_rules<R>())::all_hold) {
    return selected_rules<R>() + adapter_rules<R>();
  } else {
    constexpr DividedSlice divided = divided_slice<R>;
    return RuleList<SlicesFreezeWhole<divided.unit, divided.tensor>,
                    TrainsSomething<(plan::n_frozen<R> < plan::n_units<R>)>>{} +
           nf4_rules<R>();
  }
}

}  // namespace monomorph::rule
