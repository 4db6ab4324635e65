#pragma once
#include <monomorph/core/conversion.hpp>

namespace monomorph {

/// A field without a default: a recipe that leaves it out is refused (SPEC-01). Structural.
template <class T> struct Required {
  T value{};
  bool given = false, narrowed = false;
  constexpr Required() = default;
  template <class U>
  requires(!std::same_as<U, Required>) constexpr Required(U from)  // implicit on purpose: .n_heads = 12
      : value(detail::converted<T>(from)), given(true), narrowed(!detail::keeps_value<T>(from)) {}
  constexpr Required(const auto&, const auto&, const auto&...) : given(true), narrowed(true) {}  // {12, 8} is no value
  constexpr operator T() const { return value; }
};

}  // namespace monomorph
