#pragma once
#include <array>  // std::size, which <iterator> brings with streams and locales
#include <monomorph/plan/units.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

/// Which parameters are in which of the groups that the optimiser lists.
namespace monomorph::plan {

template <class R> inline constexpr bool has_groups = OptimizerAxis::Look::has_groups<typename R::optimizer>;
template <class R>
inline constexpr int n_groups = [] {
  if constexpr (has_groups<R>) return static_cast<int>(std::size(R::optimizer::groups));
  return 0;
}();

/// The first group that contains a tensor. What the optimiser does not update is in none.
template <class R> constexpr int group_of(int unit, const TensorInfo& tensor) {
  if (!is_optimized(tensor.parameter_class) || !trains_tensor<R>(unit, tensor)) return TensorInfo::no_group;
  const ParameterName name = parameter_name<R>(unit, tensor);
  for (int group = 0; group < n_groups<R>; ++group)
    if (R::optimizer::groups[group].parameters.contains(name.view(), tensor.parameter_class)) return group;
  return TensorInfo::no_group;
}

/// A unit's tensors, or those of a stored one, with their groups.
template <class R> constexpr ParameterLayout grouped(ParameterLayout layout, int unit) {
  if constexpr (has_groups<R>)
    for (int i = 0; i < layout.size(); ++i) layout.assign_group(i, group_of<R>(unit, layout[i]));
  return layout;
}
template <class R> constexpr ParameterLayout grouped_layout(int unit) { return grouped<R>(unit_layout<R>(unit), unit); }

/// The factors of a group's parameters in a unit.
template <class R> constexpr Multipliers multipliers(int unit, int group) {
  if constexpr (has_groups<R>) {
    if (group == TensorInfo::no_group) return {};
    const ParameterGroup& listed = R::optimizer::groups[group];
    double lr = listed.lr_multiplier;
    for (int layer = last_layer<R>; layer > unit; --layer) lr *= listed.layer_decay;
    return {lr, listed.weight_decay_multiplier};
  }
  return {};
}

}  // namespace monomorph::plan
