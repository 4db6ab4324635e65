#pragma once
#include <monomorph/spec/tensor_info.hpp>

namespace monomorph {

/// Whether a name has the form of a pattern, in which `*` stands for any characters, dots among them, or none, and `?`
/// for any one character.
constexpr bool matches(std::string_view pattern, std::string_view name) {
  constexpr std::size_t none = std::string_view::npos;
  std::size_t star = none, resume = 0, p = 0, n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;  // at first it stands for nothing
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != none) {
      p = star + 1;
      n = ++resume;  // the last star stands for one character more
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Some of a model's parameters: those of a class, or those whose name in checkpoints has the form of a pattern.
struct ParameterSelector {
  std::string_view pattern{};  ///< empty: a class is meant
  ParameterClass parameter_class{};

  // Implicit, so that a group says `.parameters = "layers.*.norm*"` or `.parameters = ParameterClass::norm`.
  constexpr ParameterSelector(const char* by_name) : pattern(by_name) {}
  constexpr ParameterSelector(ParameterClass by_class) : parameter_class(by_class) {}

  constexpr bool by_name() const { return !pattern.empty(); }
  constexpr bool contains(std::string_view name, ParameterClass of_class) const {
    return by_name() ? matches(pattern, name) : of_class == parameter_class;
  }
};

}  // namespace monomorph
