#pragma once

namespace monomorph {

/// Names the choice "derive it from the other fields" where it is to be said aloud.
struct Automatic {};
inline constexpr Automatic automatic{};

/// A field that follows from others unless it is given: no sentinel number stands for "choose for me". Structural.
template <class T> struct Derived {
  T value{};
  bool given = false;
  constexpr Derived() = default;
  consteval Derived(Automatic) {}
  consteval Derived(T chosen) : value(chosen), given(true) {}  // implicit on purpose: .n_kv_heads = 8
  constexpr T value_or(T derived) const { return given ? value : derived; }
  friend constexpr bool operator==(const Derived&, const Derived&) = default;
};

}  // namespace monomorph
