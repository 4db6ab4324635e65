#pragma once
#include <concepts>
#include <type_traits>

/// What happens to a number on its way into a field. A constructor that refused it would print the compiler's words,
/// and would not know the field's name: fields remember it instead, and a rule judges them (core/spec_fields.hpp).
namespace monomorph::detail {

template <class U>
concept Character = std::same_as<U, char> || std::same_as<U, wchar_t> || std::same_as<U, char8_t> ||
    std::same_as<U, char16_t> || std::same_as<U, char32_t>;
template <class U> concept WholeNumber = std::integral<U> && !Character<U> && !std::same_as<U, bool>;

/// Integers up to here are doubles, too.
inline constexpr long long exact_in_double = 1LL << 53;

template <WholeNumber U> constexpr bool is_negative(U number) {
  if constexpr (std::is_signed_v<U>) return number < 0;
  return false;
}

/// A T means what `from` does. Numbers are no truth values, and nothing but its own type stands for an enum.
template <class T, class U> constexpr bool keeps_value([[maybe_unused]] const U& from) {
  if constexpr (std::same_as<T, U>)
    return true;
  else if constexpr (requires { requires std::same_as<const bool, const decltype(from.narrowed)>; })
    return !from.narrowed && keeps_value<T>(from.value);  // another field
  else if constexpr (std::floating_point<T> && std::floating_point<U>)
    return true;
  else if constexpr (std::floating_point<T> && WholeNumber<U>)
    return is_negative(from) ? static_cast<long long>(from) >= -exact_in_double
                             : static_cast<unsigned long long>(from) <= exact_in_double;
  else if constexpr (WholeNumber<T> && WholeNumber<U>)
    return static_cast<U>(static_cast<T>(from)) == from && is_negative(from) == is_negative(static_cast<T>(from));
  else
    return false;
}

/// `from` as a T, or T{} where that would be something else.
template <class T, class U> constexpr T converted([[maybe_unused]] const U& from) {
  if constexpr (std::is_convertible_v<U, T>)
    return keeps_value<T>(from) ? static_cast<T>(from) : T{};
  else if constexpr (requires { from.value; })
    return converted<T>(from.value);
  else
    return T{};
}

}  // namespace monomorph::detail
