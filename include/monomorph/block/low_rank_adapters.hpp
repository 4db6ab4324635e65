#pragma once
#include <monomorph/block/part.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/spec/low_rank_spec.hpp>
#include <type_traits>

/// What the plan must know of the low-rank adapters that a recipe's finetuning asks for. Parts have one for each of
/// their products; one that is not asked for has no slices, and its calls are not in the program. The bodies are in
/// model/low_rank_adapters.hpp.
namespace monomorph {

/// Whether the recipe's finetuning has adapters at all.
template <class R> concept HasAdapters = requires { LowRankSpec{finetuning_of<R>::low_rank}; };

/// Targets of the recipe's adapters.
template <class R>
inline constexpr LowRankTargets low_rank_targets = [] {
  if constexpr (HasAdapters<R>)
    return finetuning_of<R>::low_rank.targets;
  else
    return LowRankTargets{.query = false, .value = false};
}();

/// By what the product of the adapter's two matrices is multiplied.
constexpr double low_rank_scale(const LowRankSpec& spec) {
  const double rank = spec.rank;
  return spec.alpha / (spec.rank_stabilised ? initializers::square_root(rank) : rank);
}

namespace initializers {
/// Uniform in ± 1 / √in: what LibTorch's kaiming_uniform_ with a = √5 gives a matrix (out, in), and peft gives A.
constexpr Initializer low_rank_a(std::int64_t in) { return {.half_width = 1 / square_root(static_cast<double>(in))}; }
}  // namespace initializers

/// The dropout masks of adapters are of sites behind those of a block.
constexpr DropoutSite dropout_site(LowRankTarget target) {
  return static_cast<DropoutSite>(16 + static_cast<unsigned>(target));
}

struct NoAdapterParams {
  constexpr explicit NoAdapterParams(ParameterLayout& /*layout*/) {}
};

/// Beside a product from I to O features. M = B·T tokens, r the rank.
/// @tparam Widths has `in` and `out`, the two numbers: a type, as they are not looked at before the rules have judged
///   the model's
/// @tparam adaptable whether the part's products are what the names of targets mean
template <class R, LowRankTarget target, class Widths, bool adaptable = true> struct LowRankAdapter {
  static constexpr std::int64_t I = Widths::in, O = Widths::out;
  static constexpr bool present = adaptable && adapts(low_rank_targets<R>, target);
  static constexpr LowRankSpec spec = [] {
    if constexpr (present)
      return finetuning_of<R>::low_rank;
    else
      return LowRankSpec{.rank = 0, .alpha = 0};
  }();
  static constexpr bool drops = spec.dropout > 0;
  // Whatever a recipe says, there are sizes: its rules are judged beside those of what follows from them.
  static constexpr std::int64_t r = present ? clamped(spec.rank.value, 1, 1 << 24) : 0;
  static constexpr DropoutSite site = dropout_site(target);

  struct PresentParams {
    Slice a_rxI, b_Oxr;
    constexpr explicit PresentParams(ParameterLayout& layout)
        : a_rxI(layout.take_tensor(names_of(target).a, {r, I}, ParameterClass::linear, initializers::low_rank_a(I))),
          b_Oxr(layout.take_tensor(names_of(target).b, {O, r}, ParameterClass::linear, initializers::zero)) {}
  };
  using Params = std::conditional_t<present, PresentParams, NoAdapterParams>;
  /// What A makes of the input, times the scale; in backward its gradient takes that place.
  static constexpr Slice hidden_Mr(SavedPlacement& activations, std::int64_t M, bool Recompute::*choice) {
    return present ? activations.take({M, r}, choice) : Slice{};
  }
  /// Features of an input through dropout, or of its gradient before that; 0 if there is none.
  static constexpr std::int64_t dropped_width = drops ? I : 0;

  static constexpr std::int64_t flops_of_a() { return 2 * r * I; }
  static constexpr std::int64_t flops_of_b() { return 2 * r * O; }
  static constexpr std::int64_t flops_per_token() { return flops_of_a() + flops_of_b(); }
};

/// Room for what adapters of one part drop, one after the other.
template <class... Adapters> constexpr Slice take_dropped(Layout& layout, std::int64_t M) {
  std::int64_t width = 0;
  ((width = larger_of(width, Adapters::dropped_width)), ...);
  return width > 0 ? layout.take({M, width}) : Slice{};
}

/// Where adapters of one part have their hidden features, one after the other.
template <class... Adapters> constexpr Slice take_hidden(Layout& layout, std::int64_t M) {
  std::int64_t rank = 0;
  ((rank = larger_of(rank, Adapters::r)), ...);
  return rank > 0 ? layout.take({M, rank}) : Slice{};
}

}  // namespace monomorph
