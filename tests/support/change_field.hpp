#pragma once
#include <monomorph/core/spec_fields.hpp>

#include <string>
#include <type_traits>
#include <vector>

/// Fields of a spec by their names, those of the specs in it with theirs: "norm.epsilon".
namespace monomorph::testing {

/// Another value than the field has, be it a number, a choice or a spec.
template <class Field> void change(Field& field) {
  if constexpr (DescribedSpec<Field>) {
    for_each_field(field, [](const char*, auto& inner) { change(inner); });
  } else {
    using Value = std::remove_cvref_t<decltype(field.value)>;
    if constexpr (std::is_same_v<Value, bool>)
      field = !field.value;
    else if constexpr (std::is_enum_v<Value>)
      field = field.value == Value{} ? static_cast<Value>(1) : Value{};
    else
      field = static_cast<Value>(field.value + 1);
  }
}

/// Calls f(name, field) for every field that is no spec.
template <class Spec> void for_each_plain_field(Spec& spec, const auto& f, const std::string& prefix = "") {
  for_each_field(spec, [&](const std::string& name, auto& field) {
    if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
      for_each_plain_field(field, f, prefix + name + ".");
    else
      f(prefix + name, field);
  });
}

template <class Spec> std::vector<std::string> names_of_fields() {
  std::vector<std::string> names;
  const Spec spec{};
  for_each_plain_field(spec, [&](const std::string& name, const auto&) { names.push_back(name); });
  return names;
}

template <class Spec> void change_field(Spec& spec, const std::string& wanted) {
  for_each_plain_field(spec, [&](const std::string& name, auto& field) {
    if (name == wanted) change(field);
  });
}

}  // namespace monomorph::testing
