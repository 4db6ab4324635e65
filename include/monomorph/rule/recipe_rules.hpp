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

/// `On<R, Device>` hides the device that R names, so R is judged, too.
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

template <class R> consteval auto part_rules() {
  return block_part_rules<R>() + kind_layer_rules<R>() + layer_member_rules<R>() + device_rules<R>();
}

template <class R> consteval auto layout_rules() {
  return block_layout_rules<R>() + block_attention_rules<R>() + kind_rules<R>() + exported_block_rules<R>() +
         scaled_product_rules<R>();
}

/// The rules of one stage, which know its number.
template <int number_, class Rules> struct Stage : Rules { static constexpr int number = number_; };

/// Those that a recipe is judged by: of the first stage of which one is broken, or of the last one. docs/rules.md has
/// the same table of stages. In headers of their own are the second (member_rules.hpp), the fourth (shape_rules.hpp),
/// the fifth (part_rules.hpp), the eighth (freeze_rules.hpp), the ninth (teacher_rules.hpp) and the tenth
/// (plan_rules.hpp).
template <class R> consteval auto all_rules() {
  if constexpr (!decltype(member_rules<R>())::all_hold)
    return Stage<1, decltype(member_rules<R>())>{};  // the members are what they are taken for
  else if constexpr (!decltype(field_rules<R>())::all_hold)
    return Stage<2, decltype(field_rules<R>())>{};  // the fields of specs are given
  else if constexpr (!decltype(value_rules<R>())::all_hold)
    return Stage<3, decltype(value_rules<R>())>{};  // their values, alone and against each other
  else if constexpr (!decltype(shape_rules<R>())::all_hold)
    return Stage<4, decltype(shape_rules<R>())>{};  // the values of blocks that have a shape of their own
  else if constexpr (!decltype(composition_rules<R>())::all_hold)
    return Stage<5, decltype(composition_rules<R>())>{};  // what blocks are composed of
  else if constexpr (!decltype(part_rules<R>())::all_hold)
    return Stage<6, decltype(part_rules<R>())>{};  // what layers must and may have, and the kernels that are called
  else if constexpr (!decltype(layout_rules<R>())::all_hold)
    return Stage<7, decltype(layout_rules<R>())>{};  // what blocks, and the kind of model, say with them
  else if constexpr (!decltype(freeze_rules<R>())::all_hold)
    return Stage<8, decltype(freeze_rules<R>())>{};  // which parameters are trained
  else if constexpr (!decltype(teacher_rules<R>())::all_hold)
    return Stage<9, decltype(teacher_rules<R>())>{};  // the model that the objective learns from
  else
    return Stage<10, decltype(plan_rules<R>())>{};  // what is planned
}

}  // namespace monomorph::rule
