#pragma once

namespace monomorph {

/// A field without a default: leaving it out of a designated initialiser does not compile. Structural.
template <class T> struct Required {
  T value;
  consteval Required(T given) : value(given) {}  // implicit on purpose: .n_heads = 12
  constexpr operator T() const { return value; }
};

}  // namespace monomorph
