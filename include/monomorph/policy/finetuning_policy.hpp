#pragma once
#include <array>
#include <concepts>
#include <monomorph/policy/axis.hpp>
#include <monomorph/spec/low_rank_spec.hpp>
#include <monomorph/spec/parameter_selector.hpp>

namespace monomorph {

/// What a unit is to the model: the table of tokens (with the head, if that is tied to it), a block, or a head of its
/// own.
enum class UnitKind { embedding, block, head };

namespace detail {
/// P lists selectors, or has an empty list of them, as `selected`.
template <class P> concept ListsSelectors = requires {
  requires std::is_same_v<decltype(std::data(P::selected)), const ParameterSelector*>;
  typename std::integral_constant<std::size_t, std::size(P::selected)>;
};
}  // namespace detail

/// Which units are trained. Any other is frozen: it has no gradients, no optimiser state and no update, and backward
/// ends at the lowest unit that is trained. A policy may have
///
///   static constexpr bool trains_parameter(std::string_view name, ParameterClass);  // of a unit that it trains
///
/// with the name that checkpoints have: a parameter that is not trained is frozen alone; and
///
///   static constexpr LowRankSpec low_rank;         // blocks have adapters, which are parameters as others
///   static constexpr ParameterSelector selected[];  // what trains_parameter goes by, each of which must select some
///   static constexpr bool quantizes_parameter(std::string_view name, ParameterClass);  // beside trains_parameter
///
/// of which the last one says which of the matrices that are frozen are kept in NF4, with double quantisation (QLoRA,
/// Dettmers et al. 2023), and come to be numbers for each use.
///
/// It may export `template <class R> using rules = RuleList<…>`.
struct FinetuningAxis {
  MONOMORPH_OPTIONAL_AXIS(finetuning, "monomorph::finetuning::FreezeFirst<2>")
  MONOMORPH_LOOK_UPS(Look, trains_parameter, low_rank, selected, quantizes_parameter);
  template <class P> struct Parts {
    static constexpr bool parameters = !Look::has_trains_parameter<P> || requires(std::string_view name) {
      { P::trains_parameter(name, ParameterClass::linear) } -> std::same_as<bool>;
      typename std::integral_constant<bool, P::trains_parameter("", ParameterClass::linear)>;  // as nvcc wants it
    };
    static constexpr bool trains = requires(UnitKind kind, int block) {
      { P::trains(kind, block) } -> std::same_as<bool>;
      typename Constant<P::trains(UnitKind::block, 0)>;
    };
    static constexpr bool low_rank = !Look::has_low_rank<P> || MONOMORPH_HAS_CONSTANT(LowRankSpec, low_rank);
    static constexpr bool selected =
        !Look::has_selected<P> || (Look::has_trains_parameter<P> && detail::ListsSelectors<P>);
    static constexpr bool quantizes =
        !Look::has_quantizes_parameter<P> || (Look::has_trains_parameter<P> && requires(std::string_view name) {
          { P::quantizes_parameter(name, ParameterClass::linear) } -> std::same_as<bool>;
          typename std::integral_constant<bool, P::quantizes_parameter("", ParameterClass::linear)>;
        });
    static constexpr bool all_hold = trains && parameters && low_rank && selected && quantizes;
    static consteval void explain() {
      static_assert(trains,
                    "[FREEZE-01] a finetuning policy must have `static constexpr bool trains(monomorph::UnitKind kind, "
                    "int block)`: whether the embedding, a block or the head is trained (docs/rules.md#freeze-01)");
      static_assert(
          parameters,
          "[FREEZE-01] a finetuning policy's trains_parameter, if it has one, must be `static constexpr bool "
          "trains_parameter(std::string_view name, monomorph::ParameterClass)`: whether a parameter of a unit "
          "that it trains is trained (docs/rules.md#freeze-01)");
      static_assert(low_rank,
                    "[FREEZE-01] a finetuning policy's low_rank, if it has one, must be `static constexpr "
                    "monomorph::LowRankSpec low_rank`: the adapters of blocks (docs/rules.md#freeze-01)");
      static_assert(selected,
                    "[FREEZE-01] a finetuning policy's selected, if it has one, must be `static constexpr "
                    "monomorph::ParameterSelector selected[]` beside trains_parameter, which goes by it "
                    "(docs/rules.md#freeze-01)");
      static_assert(
          quantizes,
          "[FREEZE-01] a finetuning policy's quantizes_parameter, if it has one, must be `static constexpr bool "
          "quantizes_parameter(std::string_view name, monomorph::ParameterClass)` beside trains_parameter: whether a "
          "matrix that is frozen is kept in NF4 (docs/rules.md#freeze-01)");
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
/// The list that a policy is made of. Any other type gives a list that selects nothing, which FREEZE-04 refuses.
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
