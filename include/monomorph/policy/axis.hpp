#pragma once
#include <monomorph/core/look_up.hpp>

namespace monomorph {

/// What can be wrong with a member of a recipe that should be a policy, before the parts of that policy are looked at.
enum class Mistake { none, missing, not_a_type, final_type, other_axis };

/// The policies that one of the same axis is made of, as its member type `combined`.
template <class... Policies> struct CombinedPolicies {};

/// P has the parts that readers of the axis ask for. Axis::Parts<P>::explain() has a message for each one that is
/// missing.
template <class Axis, class P> concept Fits = Axis::template Parts<P>::all_hold;

}  // namespace monomorph

/// An axis: look-ups, messages and, beside this macro, `template <class P> struct Parts` with all_hold and explain(),
/// and MONOMORPH_LOOK_UPS(Look, …) of the parts that a policy may leave out, or that only a queue's kernels can tell
/// more of.
#define MONOMORPH_AXIS(member, example)                                                                            \
  MONOMORPH_MEMBER(member)                                                                                         \
  template <class R, Mistake mistake> static consteval void explain() {                                            \
    static_assert(mistake != Mistake::missing, "[RECIPE-05] a recipe must have " #member "; write `using " #member \
                                               " = " example ";` (docs/rules.md#recipe-05)");                      \
    static_assert(mistake != Mistake::not_a_type, "[RECIPE-06] " #member " must be a type; write `using " #member  \
                                                  " = " example ";` (docs/rules.md#recipe-06)");                   \
    static_assert(mistake != Mistake::final_type,                                                                  \
                  "[RECIPE-11] " #member                                                                           \
                  " must be a type that is not final, as its parts are looked up in a type that derives from it; " \
                  "leave out `final` (docs/rules.md#recipe-11)");                                                  \
    static_assert(mistake != Mistake::other_axis,                                                                  \
                  "[RECIPE-07] " #member " must be a policy of " #member                                           \
                  ", and this is one of another axis; exchange them, or change " #member                           \
                  " (docs/rules.md#recipe-07)");                                                                   \
  }
#define MONOMORPH_REQUIRED_AXIS(member, example) \
  MONOMORPH_AXIS(member, example)                \
  static constexpr bool required = true;
#define MONOMORPH_OPTIONAL_AXIS(member, example) \
  MONOMORPH_AXIS(member, example)                \
  static constexpr bool required = false;
