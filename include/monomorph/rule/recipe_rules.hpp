#pragma once
#include <monomorph/rule/attention_rules.hpp>
#include <monomorph/rule/checkpointing_rules.hpp>
#include <monomorph/rule/member_rules.hpp>
#include <monomorph/rule/mesh_rules.hpp>
#include <monomorph/rule/model_rules.hpp>
#include <monomorph/rule/optimizer_rules.hpp>
#include <monomorph/rule/plan_rules.hpp>
#include <monomorph/rule/precision_rules.hpp>
#include <monomorph/rule/sharding_rules.hpp>

/// Which rules a recipe is judged by, in stages: a later one would stumble over what an earlier one refuses, so it is
/// judged only when the earlier ones hold, and a mistake is told once.
namespace monomorph::rule {

/// What a policy or a block exports.
template <class Owner, class R> consteval auto rules_from() {
  if constexpr (requires { typename Owner::template rules<R>; })
    return typename Owner::template rules<R>{};
  else
    return RuleList<>{};
}

/// First: the members are what they are taken for.
template <class R> consteval auto member_rules() {
  if constexpr (RecipeIsStruct<R>::holds)
    return MembersFit<R>{};
  else
    return RuleList<RecipeIsStruct<R>>{};
}

/// Second, in member_rules.hpp: fields of specs are given. Third: values, alone and against each other.
template <class R> consteval auto value_rules() {
  return layer_rules<R>() + model_rules<R>() + attention_rules<R>() + mesh_rules<R>() + precision_rules<R>() +
         optimizer_rules<R>() + budget_rules<R>() + rules_from<typename R::sharding, R>() +
         rules_from<typename R::precision, R>() + rules_from<typename R::checkpointing, R>() +
         rules_from<typename R::optimizer, R>() + rules_from<objective_of<R>, R>() + rules_from<attention_of<R>, R>();
}

/// Fourth: what blocks say of themselves, and what is planned, in plan_rules.hpp. A block may count on the values.
template <class R> consteval auto all_rules() {
  if constexpr (!decltype(member_rules<R>())::all_hold)
    return member_rules<R>();
  else if constexpr (!decltype(field_rules<R>())::all_hold)
    return field_rules<R>();
  else if constexpr (!decltype(value_rules<R>())::all_hold)
    return value_rules<R>();
  else
    return block_rules<R>() + plan_rules<R>();
}

}  // namespace monomorph::rule
