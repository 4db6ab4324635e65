#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/rule/operands.hpp>
#include <monomorph/rule/parameter_rules.hpp>

/// What the groups of an optimiser's parameters must be.
namespace monomorph::rule {

template <int group, bool has_some, class Pattern, class NearestNames> struct GroupNamesParameters {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(holds,
                  "[OPTIM-05] the pattern of a group must be that of a parameter, and this one is of none; the nearest "
                  "names stand behind it; change ParameterGroup::parameters (docs/rules.md#optim-05)");
  }
};
template <int group, ParameterClass parameter_class, bool has_some> struct GroupClassHasParameters {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(holds,
                  "[OPTIM-06] the model must have parameters of a group's class; change ParameterGroup::parameters "
                  "(docs/rules.md#optim-06)");
  }
};
template <int group, std::int64_t n_parameters> struct GroupHasParameters {
  static constexpr bool holds = n_parameters > 0;
  static consteval void explain() {
    static_assert(
        holds,
        "[OPTIM-07] a group must contain a parameter that is trained and that no group before it contains; put the "
        "narrower group first, or change finetuning (docs/rules.md#optim-07)");
  }
};
template <int group, std::int64_t lr_millionths, std::int64_t weight_decay_millionths,
          std::int64_t layer_decay_millionths>
struct MultipliersInRange {
  static constexpr std::int64_t most = million * million;
  static constexpr bool holds = 0 < lr_millionths && lr_millionths <= most && 0 <= weight_decay_millionths &&
                                weight_decay_millionths <= most && 0 < layer_decay_millionths &&
                                layer_decay_millionths <= million;
  static consteval void explain() {
    static_assert(
        holds,
        "[OPTIM-08] of a group, lr_multiplier must be above 0 and weight_decay_multiplier at least 0, both at "
        "most 1000000, and layer_decay in (0, 1]; change ParameterGroup, or freeze by finetuning what is not "
        "to be trained (docs/rules.md#optim-08)");
  }
};
template <int group, bool scales, bool can_scale> struct WeightDecayIsScaled {
  static constexpr bool holds = !scales || can_scale;
  static consteval void explain() {
    static_assert(
        holds,
        "[OPTIM-09] a weight_decay_multiplier must be of an optimizer that has weight_decay among its Hparams, "
        "or scale_weight_decay; change ParameterGroup::weight_decay_multiplier (docs/rules.md#optim-09)");
  }
};
template <std::int64_t first_element> struct GroupsBeginAligned {
  static constexpr bool holds = first_element % alignment_elements == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[OPTIM-10] parameters that lie in one matrix or vector, as those of q, k and v do, must be in the "
                  "same group, unless each begins at a multiple of 64 elements; change ParameterGroup::parameters "
                  "(docs/rules.md#optim-10)");
  }
};
/// The selector of one of R's groups.
template <class R, int group> struct SelectedByGroup {
  static constexpr ParameterSelector value = R::optimizer::groups[group].parameters;
};

template <class R>
inline constexpr auto group_sizes = [] {
  std::array<std::int64_t, plan::n_groups<R>> sizes{};
  for_each_parameter<R>([&](int unit, const TensorInfo& tensor, const ParameterName&) {
    const int group = plan::group_of<R>(unit, tensor);
    if (group != TensorInfo::no_group) sizes[group] += tensor.slice.shape.elements();
  });
  return sizes;
}();
/// The first element of its unit with which a group begins beside another one where no run of elements may; or 0.
template <class R>
inline constexpr std::int64_t unaligned_group = [] {
  for (int unit = 0; unit < plan::n_units<R>; ++unit) {
    const ParameterLayout layout = plan::grouped_layout<R>(unit);
    for (int i = 1; i < layout.size(); ++i)
      if (layout[i].group != layout[i - 1].group && layout[i].slice.offset % alignment_elements != 0)
        return layout[i].slice.offset;
  }
  return std::int64_t{0};
}();

/// What a group says of itself, before it is asked which parameters it contains.
template <class R, int group> consteval auto rules_of_group() {
  using Optimizer = typename R::optimizer;
  constexpr ParameterGroup listed = Optimizer::groups[group];
  return RuleList<
      MultipliersInRange<group, millionths_up(listed.lr_multiplier), millionths_down(listed.weight_decay_multiplier),
                         millionths_up(listed.layer_decay)>,
      WeightDecayIsScaled<group, listed.weight_decay_multiplier != 1, scales_weight_decay<Optimizer>>>{};
}
template <class R, int group> consteval auto members_of_group() {
  using Selected = SelectedByGroup<R, group>;
  constexpr bool some = selects_some<R>(Selected::value);
  if constexpr (some)
    return RuleList<GroupHasParameters<group, group_sizes<R>[group]>> {};
  else if constexpr (Selected::value.by_name())
    return RuleList<GroupNamesParameters<group, some, SpelledPattern<Selected>, NearestNames<R, Selected>>>{};
  else
    return RuleList<GroupClassHasParameters<group, Selected::value.parameter_class, some>>{};
}

template <class R, int... group> consteval auto each_group(std::integer_sequence<int, group...>) {
  return (RuleList<>{} + ... + rules_of_group<R, group>());
}
template <class R, int... group> consteval auto members_of_each_group(std::integer_sequence<int, group...>) {
  return (RuleList<>{} + ... + members_of_group<R, group>());
}

/// Of values.
template <class R> consteval auto group_rules() {
  return each_group<R>(std::make_integer_sequence<int, plan::n_groups<R>>{});
}
/// Of what is planned.
template <class R> consteval auto group_member_rules() {
  if constexpr (plan::has_groups<R>)
    return members_of_each_group<R>(std::make_integer_sequence<int, plan::n_groups<R>>{}) +
           RuleList<GroupsBeginAligned<unaligned_group<R>>>{};
  else
    return RuleList<>{};
}

}  // namespace monomorph::rule
