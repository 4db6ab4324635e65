#pragma once
#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/block/part.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/policy/finetuning_policy.hpp>
#include <monomorph/policy/precision_policy.hpp>

/// What the plan must know of a part's products where the recipe's precision has them in fp8 (docs/reference/fp8.md).
/// Of another recipe they have no slices, and their calls are not in the program. The bodies are in
/// model/scaled_products.hpp.
namespace monomorph {

/// With what the names of their histories end.
inline constexpr std::string_view amax_history_name = "amax_history";

/// A product of a part: what it makes `out` features of.
struct ProductWidths {
  std::int64_t in, out;
};

/// The products of a part with its weights, in an order that the part chooses. Of each three tensors are rounded: its
/// input, its weights and the gradient of its result.   @tparam scalable whether the part's products may be in fp8 at
/// all
template <class R, int n, bool scalable = true> struct ScaledProducts {
  static constexpr bool present = scales_products<typename R::precision> && scalable;
  static constexpr int tensors_of_product = 3, numbers_of_product = 16;  ///< runtime/kernels/scaled_products.hpp
  static constexpr int n_maxima = present ? tensors_of_product * n : 0;
  static constexpr int margin = scale_margin<typename R::precision>();

  /// The greatest magnitudes of updates before: a row for each tensor.
  static constexpr Slice take_history(ParameterLayout& layout, std::string_view name) {
    // Whatever a recipe says, there are sizes: its rules are judged beside those of what follows from them.
    constexpr std::int64_t updates = clamped(amax_history<typename R::precision>(), 1, 1 << 16);
    return present ? layout.take_record(name, {n_maxima, updates}) : Slice{};
  }
  /// The scales of a pass, and their inverses.
  static constexpr Slice take_scales(SavedPlacement& statistics) {
    return present ? statistics.take({1, numbers_of_product * n}) : Slice{};
  }
  /// Where rounded tensors of M tokens lie, of one product after the other.
  static constexpr Slice take_room(Layout& layout, std::int64_t M, const ProductWidths (&products)[n]) {
    if (!present) return {};
    std::int64_t most = 0;
    for (const auto& [in, out] : products) most = larger_of(most, M * out + M * in + out * in);
    return layout.take({1, most});
  }
  /// The weights of each product as backward reads them: rounded and transposed, 8 bits each. They are kept from
  /// forward where that is a small part of the memory: where parameters stay, none is frozen by its name or class, and
  /// no product is computed again, which would round its weights once more.
  struct KeptWeights {
    Slice of[n];
    constexpr KeptWeights(SavedPlacement& activations, const ProductWidths (&products)[n]) {
      const Recompute& again = activations.recompute;
      if (!present || freezes || !activations.parameters_stay || again.qkv || again.mlp || again.projection) return;
      for (int i = 0; i < n; ++i) of[i] = activations.kept.take({1, (products[i].in * products[i].out + 1) / 2});
    }

   private:
    static constexpr bool freezes = HasAdapters<R> || FinetuningAxis::Look::has_trains_parameter<finetuning_of<R>>;
  };
  /// A slice for a product's input that is kept as the product reads it, of M tokens: 8 bits an element, of which two
  /// are one of bf16, and transposed.
  static constexpr Shape kept_input(std::int64_t M, ProductWidths product) { return {1, (M * product.in + 1) / 2}; }
};

}  // namespace monomorph
