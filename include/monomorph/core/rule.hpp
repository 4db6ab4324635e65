#pragma once

namespace monomorph {

/// A rule is a template over the operands it compares: a total predicate `holds`, and `explain()`, which asserts it in
/// the user's words. As the operands are template arguments, every compiler prints their values.
template <class... Rules> struct RuleList {
  static constexpr bool all_hold = (Rules::holds && ...);
  static consteval void explain() { (Rules::explain(), ...); }  // instantiates all of them: every broken rule speaks
};
template <class... A, class... B> constexpr RuleList<A..., B...> operator+(RuleList<A...>, RuleList<B...>) {
  return {};
}

/// What a policy or a block exports as `template <class R> using rules = RuleList<…>`.
template <class Owner, class R> consteval auto exported_rules() {
  if constexpr (requires { typename Owner::template rules<R>; })
    return typename Owner::template rules<R>{};
  else
    return RuleList<>{};
}

}  // namespace monomorph
