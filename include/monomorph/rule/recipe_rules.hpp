#pragma once
#include <monomorph/rule/attention_rules.hpp>
#include <monomorph/rule/block_rules.hpp>
#include <monomorph/rule/checkpointing_rules.hpp>
#include <monomorph/rule/device_rules.hpp>
#include <monomorph/rule/embedding_rules.hpp>
#include <monomorph/rule/finetuning_rules.hpp>
#include <monomorph/rule/freeze_rules.hpp>
#include <monomorph/rule/group_rules.hpp>
#include <monomorph/rule/head_rules.hpp>
#include <monomorph/rule/kind_rules.hpp>
#include <monomorph/rule/layer_member_rules.hpp>
#include <monomorph/rule/low_rank_rules.hpp>
#include <monomorph/rule/member_rules.hpp>
#include <monomorph/rule/mesh_rules.hpp>
#include <monomorph/rule/model_rules.hpp>
#include <monomorph/rule/optimizer_rules.hpp>
#include <monomorph/rule/part_rules.hpp>
#include <monomorph/rule/plan_rules.hpp>
#include <monomorph/rule/precision_rules.hpp>
#include <monomorph/rule/rotary_rules.hpp>
#include <monomorph/rule/scaled_product_rules.hpp>
#include <monomorph/rule/shape_rules.hpp>
#include <monomorph/rule/sharding_rules.hpp>
#include <monomorph/rule/teacher_rules.hpp>

/// Which rules a recipe is judged by, in stages. A stage is judged only when those before it hold, as its rules rely on
/// what they check; so a mistake is told once.
namespace monomorph::rule {

/// First: the members are what they are taken for. `On<R, Device>` hides the device that R names, so R is judged, too.
template <class R> consteval auto member_rules() {
  using Experiment = experiment_of<R>;
  if constexpr (!RecipeIsStruct<Experiment>::holds)
    return RuleList<RecipeIsStruct<Experiment>>{};
  else if constexpr (std::is_same_v<R, Experiment>)
    return MembersFit<R>{};
  else
    return MembersFit<Experiment>{} + RuleList<AxisFits<DeviceAxis, R>, NamedDeviceIsKept<Experiment, device_of<R>>>{};
}

template <class R> consteval auto exported_observer_rules() {
  if constexpr (HasObserver<R>)
    return exported_rules<typename R::observer, R>();
  else
    return RuleList<>{};
}

/// Second, in member_rules.hpp: the fields of specs are given. Third: their values, alone and against each other.
template <class R> consteval auto value_rules() {
  return layer_rules<R>() + model_rules<R>() + attention_rules<R>() + head_rules<R>() + rotary_rules<R>() +
         mesh_rules<R>() + precision_rules<R>() + scaled_value_rules<R>() + optimizer_rules<R>() + group_rules<R>() +
         sharding_rules<R>() + finetuning_rules<R>() + low_rank_rules<R>() + budget_rules<R>() + output_rules<R>() +
         exported_rules<typename R::sharding, R>() + exported_rules<typename R::precision, R>() +
         exported_rules<typename R::checkpointing, R>() + exported_rules<typename R::optimizer, R>() +
         exported_rules<objective_of<R>, R>() + exported_rules<attention_of<R>, R>() +
         exported_rules<finetuning_of<R>, R>() + exported_rules<schedule_of<R>, R>() +
         exported_rules<device_of<R>, R>() + exported_observer_rules<R>();
}

/// Fourth, in shape_rules.hpp: the values of blocks that have a shape of their own. Fifth, in part_rules.hpp: what
/// blocks are composed of. Sixth: what blocks and other layers must have, which may count on the values, and the
/// kernels that they and the policies call.
template <class R> consteval auto part_rules() {
  return block_part_rules<R>() + kind_layer_rules<R>() + layer_member_rules<R>() + device_rules<R>();
}

/// Seventh: what blocks, and the kind of model, say with them.
template <class R> consteval auto layout_rules() {
  return block_layout_rules<R>() + block_attention_rules<R>() + kind_rules<R>() + exported_block_rules<R>() +
         scaled_product_rules<R>();
}

/// Eighth, in freeze_rules.hpp: which parameters are trained. Ninth, in teacher_rules.hpp: the model that the objective
/// learns from. Tenth, in plan_rules.hpp: what is planned.
template <class R> consteval auto all_rules() {
  if constexpr (!decltype(member_rules<R>())::all_hold)
    return member_rules<R>();
  else if constexpr (!decltype(field_rules<R>())::all_hold)
    return field_rules<R>();
  else if constexpr (!decltype(value_rules<R>())::all_hold)
    return value_rules<R>();
  else if constexpr (!decltype(shape_rules<R>())::all_hold)
    return shape_rules<R>();
  else if constexpr (!decltype(composition_rules<R>())::all_hold)
    return composition_rules<R>();
  else if constexpr (!decltype(part_rules<R>())::all_hold)
    return part_rules<R>();
  else if constexpr (!decltype(layout_rules<R>())::all_hold)
    return layout_rules<R>();
  else if constexpr (!decltype(freeze_rules<R>())::all_hold)
    return freeze_rules<R>();
  else if constexpr (!decltype(teacher_rules<R>())::all_hold)
    return teacher_rules<R>();
  else
    return plan_rules<R>();
}

}  // namespace monomorph::rule
