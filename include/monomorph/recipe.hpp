#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/objective/next_token.hpp>
#include <monomorph/plan/flops.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/policy/sharding_policy.hpp>
#include <monomorph/spec/expectations.hpp>
#include <monomorph/spec/mesh_spec.hpp>
#include <monomorph/rule/plan_rules.hpp>
#include <monomorph/rule/recipe_rules.hpp>

namespace monomorph {

/// The members that a recipe must have. It may have `mesh`, `layers`, `objective`, `expect` and `budget`, too.
template <class R> concept RecipeShape = requires {
  { R::model } -> std::same_as<const ModelSpec&>;
  requires ShardingPolicy<typename R::sharding>;
  requires PrecisionPolicy<typename R::precision>;
  requires CheckpointingPolicy<typename R::checkpointing>;
  requires OptimizerPolicy<typename R::optimizer>;
};

namespace detail {
/// What a broken value would make of the plan is not judged: first the values, then what is planned from them.
template <RecipeShape R> consteval auto all_rules() {
  if constexpr (decltype(rule::value_rules<R>())::all_hold)
    return rule::plan_rules<R>();
  else
    return rule::value_rules<R>();
}
}  // namespace detail
template <RecipeShape R> using rules_of = decltype(detail::all_rules<R>());

/// The one gate. Whoever takes a Recipe may rely on every rule and checks none again.
template <class R> concept Recipe = RecipeShape<R> && rules_of<R>::all_hold;

/// True, or one compile error per broken rule and no other.
template <RecipeShape R> consteval bool admit() {
  rules_of<R>::explain();
  return true;
}

}  // namespace monomorph
