#pragma once
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace monomorph {

/// The number that a whole text is, in decimal digits; nothing for any other text, for one that is not finite, and for
/// one that the type cannot hold.
template <class Number> std::optional<Number> number_from(std::string_view text) {
  Number number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace monomorph
