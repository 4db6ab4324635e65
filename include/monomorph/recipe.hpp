#pragma once
#include <concepts>
#include <monomorph/core/rule.hpp>
#include <monomorph/objective/next_token.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/plan/flops.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/policy/sharding_policy.hpp>
#include <monomorph/rule/recipe_rules.hpp>
#include <monomorph/spec/expectations.hpp>
#include <monomorph/spec/mesh_spec.hpp>
#include <type_traits>

namespace monomorph {

namespace detail {
template <class R> concept HasRequiredMembers = requires {
  { &R::model } -> std::same_as<const ModelSpec*>;
  typename R::sharding;
  typename R::precision;
  typename R::checkpointing;
  typename R::optimizer;
};
template <class R> concept ModelIsConstexpr = requires {
  typename std::integral_constant<std::int64_t, R::model.n_layers.value>;
};
template <class R> concept CanBeInherited = !std::is_final_v<R>;  // by variants, and by RECIPE-01's probe
}  // namespace detail

/// The members that a recipe must have. It may have `mesh`, `layers`, `objective`, `attention`, `expect` and `budget`,
/// too. (As conjunctions, and not as nested requirements, for compilers then tell which part of a policy is missing.)
// clang-format off
template <class R> concept RecipeShape =
    detail::HasRequiredMembers<R> && detail::ModelIsConstexpr<R> && detail::CanBeInherited<R> &&
    ShardingPolicy<typename R::sharding> && PrecisionPolicy<typename R::precision> &&
    CheckpointingPolicy<typename R::checkpointing> && OptimizerPolicy<typename R::optimizer>;
// clang-format on

template <RecipeShape R> using rules_of = decltype(rule::all_rules<R>());

/// The one gate. Whoever takes a Recipe may rely on every rule and checks none again.
template <class R> concept Recipe = RecipeShape<R> && rules_of<R>::all_hold;

/// True, or one compile error per broken rule and no other.
template <RecipeShape R> consteval bool admit() {
  rules_of<R>::explain();
  return true;
}

}  // namespace monomorph
