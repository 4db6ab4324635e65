#pragma once
#include <monomorph/core/look_up.hpp>

namespace monomorph {

/// Whether all rules of a list hold. It is a base of the list, as compilers spell out the name of each member of a
/// class: of a list's own that would be all of the list.
template <bool all> struct Judgement { static constexpr bool all_hold = all, holds = all; };

/// A rule is a template over the operands it compares: a total predicate `holds`, and `explain()`, which asserts it in
/// the user's words. As the operands are template arguments, every compiler prints their values. A list of rules is a
/// rule, too.
template <class... Rules> struct RuleList : Judgement<(Rules::holds && ...)> {
  static consteval void explain() { (Rules::explain(), ...); }  // instantiates all of them: every broken rule speaks
};
/// The lists stay whole: taking them apart at each + makes ever longer types, which every recipe pays for.
template <class... A, class... B>
constexpr RuleList<RuleList<A...>, RuleList<B...>> operator+(RuleList<A...>, RuleList<B...>) {
  return {};
}

MONOMORPH_LOOK_UPS(LookUpRules, rules);

namespace detail {
template <class... Rules> void take_rules(const RuleList<Rules...>&);
}  // namespace detail

/// What is called `rules` is a list of rules.
template <class Owner, class R> struct RulesAreAList {
  static constexpr bool exported = requires { detail::take_rules(typename Owner::template rules<R>{}); };
  static constexpr bool holds = exported || !LookUpRules::has_rules<Owner>;
  static consteval void explain() {
    static_assert(
        holds,
        "[RECIPE-12] the rules of a policy, a block, a part of one or a kind of model must be `template <class "
        "R> using rules = monomorph::RuleList<...>`; change rules (docs/rules.md#recipe-12)");
  }
};

/// What a policy, a block, a part of one or a kind of model exports as `template <class R> using rules = RuleList<…>`.
template <class Owner, class R> consteval auto exported_rules() {
  if constexpr (RulesAreAList<Owner, R>::exported)
    return typename Owner::template rules<R>{};
  else
    return RuleList<RulesAreAList<Owner, R>>{};
}

}  // namespace monomorph
