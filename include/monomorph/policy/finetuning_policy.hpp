#pragma once
#include <array>
#include <concepts>
#include <monomorph/policy/axis.hpp>
#include <monomorph/spec/parameter_selector.hpp>

namespace monomorph {

/// What a unit is to the model: the table of tokens (with the head, if that is tied to it), a block, or a head of its
/// own.
enum class UnitKind { embedding, block, head };

/// Which units are trained. Any other is frozen: it has no gradients, no optimizer state and no update, and backward
/// ends at the lowest unit that is trained. A policy may have
///
///   static constexpr bool trains_parameter(std::string_view name, ParameterClass);  // of a unit that it trains
///
/// with the name that checkpoints have: a parameter that is not trained is frozen alone. It may export `template <class
/// R> using rules = RuleList<…>`.
struct FinetuningAxis {
  MONOMORPH_OPTIONAL_AXIS(finetuning, "monomorph::finetuning::FreezeFirst<2>")
  MONOMORPH_LOOK_UPS(Look, trains_parameter);
  template <class P> struct Parts {
    static constexpr bool parameters = !Look::has_trains_parameter<P> || requires(std::string_view name) {
      { P::trains_parameter(name, ParameterClass::linear) } -> std::same_as<bool>;
      typename std::integral_constant<bool, P::trains_parameter("", ParameterClass::linear)>;  // as nvcc wants it
    };
    static constexpr bool trains = requires(UnitKind kind, int block) {
      { P::trains(kind, block) } -> std::same_as<bool>;
      typename Constant<P::trains(UnitKind::block, 0)>;
    };
    static constexpr bool all_hold = trains && parameters;
    static consteval void explain() {
      static_assert(trains,
                    "[FREEZE-01] a finetuning policy must have `static constexpr bool trains(monomorph::UnitKind kind, "
                    "int block)`: whether the embedding, a block or the head is trained (docs/rules.md#freeze-01)");
      static_assert(
          parameters,
          "[FREEZE-01] a finetuning policy's trains_parameter, if it has one, must be `static constexpr bool "
          "trains_parameter(std::string_view name, monomorph::ParameterClass)`: whether a parameter of a unit "
          "that it trains is trained (docs/rules.md#freeze-01)");
    }
  };
};
template <class P> concept FinetuningPolicy = Fits<FinetuningAxis, P>;

/// T lists what it selects as `static constexpr ParameterSelector parameters[] = {…}`.
template <class T> concept SelectsParameters = requires {
  { T::parameters[0] } -> std::same_as<const ParameterSelector&>;
  typename std::integral_constant<bool, T::parameters[0].by_name()>;
};
inline constexpr std::array<ParameterSelector, 0> selects_nothing{};
/// Of a policy that is made of such a list; of anything else one that selects nothing, which FREEZE-04 refuses.
template <class T> constexpr const auto& selected_parameters() {
  if constexpr (SelectsParameters<T>)
    return T::parameters;
  else
    return selects_nothing;
}
constexpr bool any_contains(const auto& selectors, std::string_view name, ParameterClass parameter_class) {
  for (const ParameterSelector& selector : selectors)
    if (selector.contains(name, parameter_class)) return true;
  return false;
}

}  // namespace monomorph
