#pragma once
#include <monomorph/core/for_each_name.hpp>
#include <type_traits>

/// Look-ups of members of what users write. C++20 cannot list the members of a type, but naming a member that a class
/// inherits from two bases is ambiguous: that tells whether a type has a member at all, be it a type, a value, a
/// function or a template. A final type cannot be a base, so it seems to have none.
namespace monomorph {

/// `typename Constant<value>` is well-formed if the compiler knows the value.
template <auto value> struct Constant;

namespace detail {
template <class Pointer, class T>
concept PointsTo = std::is_pointer_v<Pointer> && std::is_convertible_v<std::remove_pointer_t<Pointer>, T>;

template <class T> inline constexpr bool is_base = false;
template <class T>
requires(sizeof(T) > 0) inline constexpr bool is_base<T> = std::is_class_v<T> && !std::is_final_v<T>;
template <class T> inline constexpr bool is_final = false;
template <class T>
requires(sizeof(T) > 0) inline constexpr bool is_final<T> = std::is_final_v<T>;
struct NoMembers {};
template <class T> using BaseOr = std::conditional_t<is_base<T>, T, NoMembers>;

/// Where cmake/check_members.cmake has the compiler look for what T lacks, the compiler says which member of T has
/// nearly the name that it did not find.
template <class T> struct Spelled : T {};
}  // namespace detail

}  // namespace monomorph

/// P has a static member that the compiler knows, of a type that converts to `type` implicitly.
#define MONOMORPH_HAS_CONSTANT(type, member)                          \
  requires {                                                          \
    requires monomorph::detail::PointsTo<decltype(&P::member), type>; \
    typename monomorph::Constant<type{P::member}>;                    \
  }

/// Look-ups of a recipe's member. The member is looked for as a value first, because g++ 12 skips values when it looks
/// for a type, and would find the type of a base that the value hides.
#define MONOMORPH_MEMBER(member)                                                                                   \
  struct Decoy {                                                                                                   \
    enum { member };                                                                                               \
  };                                                                                                               \
  template <class R> struct Both : R, Decoy {};                                                                    \
  template <class R> static constexpr bool named = !requires { Both<R>::member; };                                 \
  template <class R> static constexpr bool is_value = requires { R::member; };                                     \
  template <class R> static constexpr bool is_type = named<R> && !is_value<R> && requires { typename R::member; }; \
  template <class R> struct Get { using type = typename R::member; };

/// `Look::has_<member><T>` for each member of a list: whether T has one of that name, whatever it is. A member that may
/// be left out is ignored in silence if it is not what its reader asks for, so whoever may have one is asked this
/// first. `spell` is for cmake/check_members.cmake alone: it does not compile if T lacks one of them.
#define MONOMORPH_LOOK_UPS(Look, ...)                                              \
  struct Look {                                                                    \
    struct Decoy {                                                                 \
      enum { __VA_ARGS__ };                                                        \
    };                                                                             \
    template <class T> struct Both : monomorph::detail::BaseOr<T>, Decoy {};       \
    MONOMORPH_FOR_EACH(MONOMORPH_LOOK_UP, Look, __VA_ARGS__)                       \
    template <class T> static void spell(const monomorph::detail::Spelled<T>* t) { \
      MONOMORPH_FOR_EACH(MONOMORPH_SPELL, Look, __VA_ARGS__)                       \
    }                                                                              \
  }
#define MONOMORPH_LOOK_UP(Look, member) \
  template <class T> static constexpr bool has_##member = !requires { Both<T>::member; };
#define MONOMORPH_SPELL(Look, member) \
  if constexpr (!has_##member<T>) (void)t->member;
