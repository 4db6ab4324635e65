#pragma once
#include <monomorph/block/part.hpp>
#include <monomorph/core/extremes.hpp>

namespace monomorph {

/// Where the norms of a block stand.
enum class BlockOrder {
  pre_norm,       ///< x + f(norm(x)), for attention and then for the MLP (Radford et al. 2019, section 2.3)
  post_norm,      ///< norm(x + f(x)), for the one and then for the other (Vaswani et al. 2017, section 3.1)
  sandwich_norm,  ///< x + norm(f(norm(x))), for the one and then for the other (Ding et al. 2021, section 3.2)
  parallel,       ///< x + attention(norm(x)) + mlp(norm(x)), one norm for both (Chowdhery et al. 2022, section 2)
  /// n + f(n) of n = norm(x), for the one and then for the other. With the final norm these are post-norm blocks behind
  /// a norm of the embeddings (Devlin et al. 2019), whose norms are counted from the other end.
  normed_residual,
};

constexpr std::string_view name_of(BlockOrder order) {
  constexpr std::string_view names[]{"pre-norm", "post-norm", "sandwich-norm", "parallel", "normed residual"};
  return names[static_cast<int>(order)];
}

template <class R> inline constexpr bool drops_residual = trunk_of<R>.dropout.residual > 0;

/// A part with its norms and the residual stream around it, in one of the orders that go through the parts one by one.
template <class R, BlockOrder order, template <class Tower> class PartOf> struct Sublayer {
  using Part = PartOf<R>;
  static constexpr const auto& model = trunk_of<R>;
  static constexpr std::int64_t D = model.d_model;
  static constexpr bool norm_comes_first = order != BlockOrder::post_norm,
                        norm_comes_last = order == BlockOrder::post_norm || order == BlockOrder::sandwich_norm;

  /// Whether the norm before the part gives 8 bits, as the part reads them (ScaledProducts), and nothing else does. It
  /// does not for a part that derives from one of ours, as that may read its input otherwise.
  static constexpr bool rounds_in = [] {
    if constexpr (requires { typename Part::ReadsRounded; })
      return norm_comes_first && order != BlockOrder::normed_residual && Part::rounds_in &&
             std::is_same_v<typename Part::ReadsRounded, Part>;
    return false;
  }();

  struct Params {
    NormParams norm_before;
    typename Part::Params part;
    NormParams norm_after;
    constexpr Params(ParameterLayout& layout, int block)
        : norm_before(before(layout)), part(layout, block), norm_after(behind(layout)) {}

   private:
    static constexpr NormParams before(ParameterLayout& layout) {
      return norm_comes_first ? NormParams{layout, model.norm, Part::norm_before, D} : NormParams{};
    }
    /// With post-norm it is the only one.
    static constexpr NormParams behind(ParameterLayout& layout) {
      if constexpr (!norm_comes_last)
        return {};
      else if constexpr (norm_comes_first)
        return {layout, model.norm, Part::norm_after, D};
      else
        return {layout, model.norm, Part::norm_before, D};
    }
  };

  struct Saved {
    /// The norm's output before the part, or, where it gives 8 bits, these transposed. With post-norm, the part reads
    /// the residual stream.
    Slice in_MD;
    NormStatistics norm_before;
    typename Part::Saved part;
    Slice to_norm_MD;  ///< what the norm behind the part reads
    NormStatistics norm_after;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : in_MD(norm_comes_first ? activations.take(shape_of_in(M), &Recompute::norm) : Slice{}),
          norm_before(statistics_if(norm_comes_first, statistics, M)),
          part(activations, statistics, M),
          to_norm_MD(norm_comes_last ? activations.take({M, D}, &Recompute::projection) : Slice{}),
          norm_after(statistics_if(norm_comes_last, statistics, M)) {}

   private:
    static constexpr Shape shape_of_in(std::int64_t M) {
      if constexpr (rounds_in) return Part::Scaled::kept_input(M, Part::products[0]);
      return {M, D};
    }
    static constexpr NormStatistics statistics_if(bool present, SavedPlacement& statistics, std::int64_t M) {
      return present ? NormStatistics{statistics, model.norm, {1, M}} : NormStatistics{};
    }
  };
};

/// What the parts of a block need besides in backward, one after the other in the same place, and what is behind both.
template <class R, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
struct PartTemporaries {
  typename AttentionOf<R>::Temporary attention;
  typename MlpOf<R>::Temporary mlp;
  constexpr PartTemporaries(Layout& layout, std::int64_t M) : PartTemporaries(layout, Layout{layout}, M) {}

 private:
  constexpr PartTemporaries(Layout& layout, Layout&& same_place, std::int64_t M)
      : attention(layout, M), mlp(same_place, M) {
    layout.elements = larger_of(layout.elements, same_place.elements);
  }
};

}  // namespace monomorph
