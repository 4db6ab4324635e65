#pragma once
#include <string_view>
#include <type_traits>

namespace monomorph {

/// What can be wrong with a member of a recipe that should be a policy, before the parts of that policy are looked at.
enum class Mistake { none, missing, not_a_type, other_axis };

/// `typename Constant<value>` is well-formed if the compiler knows the value.
template <auto value> struct Constant;

namespace detail {
template <class Pointer, class T>
concept PointsTo = std::is_pointer_v<Pointer> && std::is_convertible_v<std::remove_pointer_t<Pointer>, T>;
}  // namespace detail

/// P has a name. This is a constant and not a concept, as g++ adds errors of its own where a concept does not hold.
template <class P> inline constexpr bool is_named = requires {
  requires detail::PointsTo<decltype(&P::name), std::string_view>;
  typename Constant<std::string_view(P::name).size()>;
};

/// P has the parts that readers of the axis ask for. Axis::Parts<P>::explain() has a message for each one that is
/// missing.
template <class Axis, class P> concept Fits = Axis::template Parts<P>::all_hold;

}  // namespace monomorph

/// P has a static member that the compiler knows, of a type that converts to `type` implicitly.
#define MONOMORPH_HAS_CONSTANT(type, member)                          \
  requires {                                                          \
    requires monomorph::detail::PointsTo<decltype(&P::member), type>; \
    typename monomorph::Constant<type{P::member}>;                    \
  }

/// Look-ups of a recipe's member. Naming a member that a class inherits from two bases is ambiguous: that tells whether
/// R has the member at all, be it a type, a value, a function or a template. The member is looked for as a value first,
/// because g++ 12 skips values when it looks for a type, and would find the type of a base that the value hides.
#define MONOMORPH_MEMBER(member)                                                                                   \
  struct Decoy {                                                                                                   \
    enum { member };                                                                                               \
  };                                                                                                               \
  template <class R> struct Both : R, Decoy {};                                                                    \
  template <class R> static constexpr bool named = !requires { Both<R>::member; };                                 \
  template <class R> static constexpr bool is_value = requires { R::member; };                                     \
  template <class R> static constexpr bool is_type = named<R> && !is_value<R> && requires { typename R::member; }; \
  template <class R> struct Get { using type = typename R::member; };

/// An axis: look-ups, messages and, beside this macro, `template <class P> struct Parts` with all_hold and explain().
#define MONOMORPH_AXIS(member, example)                                                                            \
  MONOMORPH_MEMBER(member)                                                                                         \
  template <class R, Mistake mistake> static consteval void explain() {                                            \
    static_assert(mistake != Mistake::missing, "[RECIPE-05] a recipe must have " #member "; write `using " #member \
                                               " = " example ";` (docs/rules.md#recipe-05)");                      \
    static_assert(mistake != Mistake::not_a_type, "[RECIPE-06] " #member " must be a type; write `using " #member  \
                                                  " = " example ";` (docs/rules.md#recipe-06)");                   \
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
