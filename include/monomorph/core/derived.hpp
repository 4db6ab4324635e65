#pragma once
#include <monomorph/core/conversion.hpp>

namespace monomorph {

/// Names the choice "derive it from the other fields" where it is to be said aloud.
struct Automatic {};
inline constexpr Automatic automatic{};

/// A field that follows from others unless it is given: no sentinel number stands for "choose for me". Structural.
template <class T> struct Derived {
  T value{};
  bool given = false, narrowed = false;
  constexpr Derived() = default;
  constexpr Derived(Automatic) {}
  template <class U>
  requires(!std::same_as<U, Derived>) constexpr Derived(U chosen)  // implicit on purpose: .n_kv_heads = 8
      : value(detail::converted<T>(chosen)), given(true), narrowed(!detail::keeps_value<T>(chosen)) {}
  constexpr Derived(const auto&, const auto&, const auto&...) : given(true), narrowed(true) {}  // {8, 4} is no value
  constexpr T value_or(T derived) const { return given ? value : derived; }
  friend constexpr bool operator==(const Derived&, const Derived&) = default;
};

}  // namespace monomorph
