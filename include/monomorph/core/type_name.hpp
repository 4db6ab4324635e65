#pragma once
#include <string_view>

namespace monomorph {

namespace detail {
template <class T> constexpr std::string_view signature_with() { return __PRETTY_FUNCTION__; }
}  // namespace detail

/// The name of a type with its namespaces and template arguments, as the compiler writes it. Spaces apart, g++ and
/// clang++ agree on names whose template arguments are types and integers.
template <class T> constexpr std::string_view type_name() {
  constexpr std::string_view of_int = detail::signature_with<int>();
  constexpr auto begin = of_int.rfind("int", of_int.find(';')), after = of_int.size() - begin - 3;
  constexpr std::string_view signature = detail::signature_with<T>();
  return signature.substr(begin, signature.size() - begin - after);
}

}  // namespace monomorph
