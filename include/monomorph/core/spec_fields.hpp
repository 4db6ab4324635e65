#pragma once
#include <monomorph/core/for_each_name.hpp>
#include <monomorph/core/required.hpp>
#include <type_traits>

namespace monomorph {

/// What MONOMORPH_SPEC says of a spec.
template <class Spec> struct SpecFields;
template <class Spec> concept DescribedSpec = requires { sizeof(SpecFields<Spec>); };

/// Calls f(name, field) for every field of a spec, in order. A field may be a spec itself.
template <class Spec>
requires DescribedSpec<std::remove_const_t<Spec>>
constexpr void for_each_field(Spec& spec, auto&& f) { SpecFields<std::remove_const_t<Spec>>::for_each(spec, f); }

namespace detail {

template <class T> constexpr bool is_left_out(const Required<T>& field) { return !field.given; }
constexpr bool is_left_out(const auto& /*field*/) { return false; }

template <DescribedSpec Spec> constexpr bool all_fields_fit(const Spec& spec) {
  bool fit = true;
  for_each_field(spec, [&](const char*, const auto& field) {
    if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
      fit = fit && all_fields_fit(field);
    else
      fit = fit && !is_left_out(field) && !field.narrowed;
  });
  return fit;
}

}  // namespace detail

/// Every field of Holder::spec is given as it must be, or a message for each that is not.
template <class Holder> struct FieldsFit {
  static constexpr bool holds = detail::all_fields_fit(Holder::spec);
  static consteval void explain() {
    SpecFields<std::remove_cvref_t<decltype(Holder::spec)>>::template explain<Holder>();
  }
};

}  // namespace monomorph

#define MONOMORPH_VISIT_FIELD(type, field) f(#field, spec.field);
#define MONOMORPH_HOLD_FIELD(type, field) \
  template <class Holder> struct holder_of_##field { static constexpr const auto& spec = Holder::spec.field; };
#define MONOMORPH_EXPLAIN_FIELD(type, field)                                                                          \
  if constexpr (monomorph::DescribedSpec<std::remove_cvref_t<decltype(Holder::spec.field)>>) {                        \
    monomorph::FieldsFit<holder_of_##field<Holder>>::explain();                                                       \
  } else {                                                                                                            \
    static_assert(!monomorph::detail::is_left_out(Holder::spec.field),                                                \
                  "[SPEC-01] " #type " must be given " #field "; write `." #field " = ...` (docs/rules.md#spec-01)"); \
    static_assert(!Holder::spec.field.narrowed,                                                                       \
                  "[SPEC-02] " #type "::" #field " must be given as what its type can hold; change ." #field          \
                  " (docs/rules.md#spec-02)");                                                                        \
  }

/// Lists the fields of a spec, once and in their order, outside of namespaces: what judges how they are given, what
/// fingerprints them and what describes them all walk this list. A field that is not in it does not compile, for the
/// structured binding counts them.
#define MONOMORPH_SPEC(type, ...)                                    \
  template <> struct monomorph::SpecFields<type> {                   \
    static constexpr void for_each(auto& spec, auto&& f) {           \
      [[maybe_unused]] const auto& [__VA_ARGS__] = spec;             \
      MONOMORPH_FOR_EACH(MONOMORPH_VISIT_FIELD, type, __VA_ARGS__)   \
    }                                                                \
    MONOMORPH_FOR_EACH(MONOMORPH_HOLD_FIELD, type, __VA_ARGS__)      \
    template <class Holder> static consteval void explain() {        \
      MONOMORPH_FOR_EACH(MONOMORPH_EXPLAIN_FIELD, type, __VA_ARGS__) \
    }                                                                \
  }
