#pragma once
#include <monomorph/core/conversion.hpp>

namespace monomorph {

/// A field whose default is right for most: `Defaulted<double> epsilon = 1e-5`. Structural.
template <class T> struct Defaulted {
  T value{};
  bool narrowed = false;
  constexpr Defaulted() : narrowed(true) {}  // {} is no value
  template <class U>
  requires(!std::same_as<U, Defaulted>) constexpr Defaulted(U from)  // implicit on purpose: .epsilon = 1e-6
      : value(detail::converted<T>(from)), narrowed(!detail::keeps_value<T>(from)) {}
  constexpr Defaulted(const auto&, const auto&, const auto&...) : narrowed(true) {}  // neither is {1e-5, 1e-6}
  constexpr operator T() const { return value; }
};

}  // namespace monomorph
