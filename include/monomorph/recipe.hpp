#pragma once
#include <monomorph/objective/next_token.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/plan/flops.hpp>
#include <monomorph/rule/recipe_rules.hpp>

namespace monomorph {

/// The rules that R is judged by: its members, or if they hold its fields, and so on (rule/recipe_rules.hpp).
template <class R> using rules_of = decltype(rule::all_rules<R>());

/// The one gate. Whoever takes a Recipe may rely on every rule and checks none again.
template <class R> concept Recipe = rules_of<R>::all_hold;

/// True, or one compile error per broken rule and no other. It has no constraint, or the first thing that a compiler
/// says would be that no function matches.
template <class R> consteval bool admit() {
  rules_of<R>::explain();
  return true;
}

}  // namespace monomorph
