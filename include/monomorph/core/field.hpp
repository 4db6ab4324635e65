#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace monomorph {

/// A hyperparameter: it changes from run to run, so it is a value and no part of the recipe's type. This shape is for
/// bool, std::string, WeightedPaths (in JSON one path, or an array of them) and enums; a string that may only be one of
/// a few words is an enum with EnumNames.
template <class T> struct Field {
  T value;
  std::string_view doc;
  constexpr operator const T&() const { return value; }
};

/// A number with inclusive bounds, which hold for what is read; the default must satisfy them, too.
template <class T>
requires(std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>) struct Field<T> {
  T value, min, max;
  std::string_view doc;
  constexpr operator const T&() const { return value; }
};

/// The words of an enum in JSON, in the order of its values, which start at 0. Specialise it beside the enum:
/// `template <> struct EnumNames<Kind> { static constexpr std::string_view names[] = {"linear", "cosine"}; };`
template <class Enum> struct EnumNames;

}  // namespace monomorph
