#pragma once
#include <monomorph/block/dense_mlp.hpp>
#include <monomorph/block/self_attention.hpp>
#include <monomorph/block/sublayer.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/core/type_name.hpp>
#include <monomorph/policy/kernel_sets.hpp>

/// Blocks composed of an attention part and an MLP part. Here is what the plan must know; the bodies are below the
/// firewall, in model/composed_block.hpp.
namespace monomorph {

/// What a part says of itself, if it does.
template <class Recipe, class Part> void describe_part(auto& to) {
  if constexpr (requires { Part::template describe<Recipe>(to); }) Part::template describe<Recipe>(to);
}

namespace detail {
template <class Part> struct PolicyOfPart { using type = attention::Causal; };  // of none, a rule says what it lacks
template <class Part>
requires requires { typename Part::Policy; }
struct PolicyOfPart<Part> {
  using type = typename Part::Policy;
};
}  // namespace detail

/// Whether a block of these parts can extend sequences: both can, and no token sees those that come later.
template <class R, class AttentionPart, class MlpPart>
concept PartsDecode =
    LookUpPart::has_decode<AttentionPart> && LookUpPart::has_decode<MlpPart> && !attention_of<R>::mask.looks_ahead();

/// FLOPs of the products that `project` repeats: what a part says in `projection_flops_per_token()`, or none.
template <class Part> constexpr std::int64_t projection_flops() {
  if constexpr (requires { Part::projection_flops_per_token(); })
    return Part::projection_flops_per_token();
  else
    return 0;
}
/// FLOPs that `compute` repeats: `compute_flops_per_token(what)` of the part, or all others for the whole block.
template <class Part> constexpr std::int64_t compute_flops(Recompute what) {
  if constexpr (requires { Part::compute_flops_per_token(what); })
    return Part::compute_flops_per_token(what);
  else
    return what == Recompute::block ? Part::matmul_flops_per_token() - projection_flops<Part>() : 0;
}

/// Whether the recipe's policy has less than the whole of some block computed again, and more than nothing.
template <class R>
inline constexpr bool recomputes_parts = [] {
  for (int block = 0; block < trunk_of<R>.n_layers; ++block) {
    const Recompute again = R::checkpointing::recompute(block);
    if (again != Recompute::nothing && again != Recompute::block) return true;
  }
  return false;
}();

/// What follows from the parts, and does not differ between orders.
template <class R, BlockOrder order, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
struct PartsOfBlock {
  using Tower = R;
  static constexpr BlockOrder block_order = order;
  using AttentionPart = AttentionOf<R>;
  using MlpPart = MlpOf<R>;
  using Attention = typename detail::PolicyOfPart<AttentionPart>::type;
  static constexpr const auto& model = trunk_of<R>;
  static constexpr std::int64_t D = model.d_model;
  static constexpr AttentionMask mask = Attention::mask;
  static constexpr bool within_documents = true;  ///< can keep to documents, should the recipe's attention ask for it
  template <class Recipe>
  using rules = decltype(exported_rules<AttentionPart, Recipe>() + exported_rules<MlpPart, Recipe>());
  using needs = NeedsOfAll<AttentionPart, MlpPart>;

  /// Products with parameters per token, forward: one multiply-add is two.
  static constexpr std::int64_t matmul_flops_per_token() {
    return AttentionPart::matmul_flops_per_token() + MlpPart::matmul_flops_per_token();
  }
  /// What the MLP declares, see docs/guides/add_a_block.md.
  static constexpr int n_counters = [] {
    if constexpr (requires { MlpPart::n_counters; }) return MlpPart::n_counters;
    return 0;
  }();
  /// How many tensors its products round, where those of both parts are in fp8.
  static constexpr int n_maxima = [] {
    if constexpr (requires { AttentionPart::Scaled::n_maxima, MlpPart::Scaled::n_maxima; })
      return AttentionPart::Scaled::n_maxima + MlpPart::Scaled::n_maxima;
    return 0;
  }();
  static constexpr bool has_auxiliary_loss = [] {
    if constexpr (requires { MlpPart::has_auxiliary_loss; }) return MlpPart::has_auxiliary_loss;
    return false;
  }();
  static constexpr std::int64_t idle_parameters() {
    if constexpr (requires { MlpPart::idle_parameters(); }) return MlpPart::idle_parameters();
    return 0;
  }
  static constexpr double attention_flops_per_token() { return AttentionPart::attention_flops_per_token(); }
  /// What `recompute` repeats. A part's last product is not among it where neither backward reads its result, nor a
  /// norm whose input backward reads.
  static constexpr double recomputed_flops_per_token(Recompute again) {
    std::int64_t products = compute_flops<AttentionPart>(again) + compute_flops<MlpPart>(again);
    if (again.projection && order != BlockOrder::parallel) products += projection_flops<AttentionPart>();
    if (again.projection && (order == BlockOrder::post_norm || order == BlockOrder::sandwich_norm))
      products += projection_flops<MlpPart>();
    return static_cast<double>(products) + (again.attention ? attention_flops_per_token() : 0);
  }

  /// @param attention, mlp the parameters of each   @param maxima those of this block, over all ranks
  static void record_of_parts(auto queue, const auto& attention, const auto& mlp, const auto& run,
                              const std::int64_t* maxima, const auto& terms) {
    const auto record = [&](const Slice& history, int first) {
      record_amax(queue, run, history.offset, history.shape, maxima + first, terms);
    };
    record(attention.amax_history, AttentionPart::first_maximum);
    record(mlp.amax_history, MlpPart::first_maximum);
  }

  /// For train/describe/block_features.hpp.
  template <class Recipe> static void describe(auto& to) {
    if (!std::is_same_v<Attention, attention_of<Recipe>>) to.add(type_name<Attention>());
    if (order != BlockOrder::pre_norm) to.add(name_of(order));
    describe_part<Recipe, AttentionPart>(to);
    describe_part<Recipe, MlpPart>(to);
  }

  /// What extending sequences by B new tokens needs.
  struct DecodeTemporary {
    Slice normed_BD, result_BD;
    NormStatistics norm;
    typename AttentionPart::DecodeTemporary attention;
    typename MlpPart::DecodeTemporary mlp;
    constexpr DecodeTemporary(Layout& activations, Layout& statistics, std::int64_t B)
        : normed_BD(activations.take({B, D})),
          result_BD(activations.take({B, D})),
          norm(statistics, model.norm, {1, B}),
          attention(activations, statistics, B),
          mlp(activations, statistics, B) {}
  };
  /// What it keeps of the tokens before.
  struct DecodeCache {
    typename AttentionPart::DecodeCache attention;
    typename MlpPart::DecodeCache mlp;
    constexpr DecodeCache(Layout& layout, std::int64_t rows) : attention(layout, rows), mlp(layout, rows) {}
  };
};

/// Attention, then the MLP, each with its norms and the residual stream around it.
template <class R, BlockOrder order, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
struct ComposedBlock : PartsOfBlock<R, order, AttentionOf, MlpOf> {
  using AttentionLayer = Sublayer<R, order, AttentionOf>;
  using MlpLayer = Sublayer<R, order, MlpOf>;
  static constexpr std::int64_t D = trunk_of<R>.d_model;

  struct Params : ParameterLayout {
    typename AttentionLayer::Params attention;
    typename MlpLayer::Params mlp;
    constexpr explicit Params(int block = 0) : attention(*this, block), mlp(*this, block) {}
  };
  /// What backward reads, as slices of two flat buffers: activations, and statistics of fp32 at least.
  struct Saved {
    static constexpr bool Recompute::*middle_choice =
        order == BlockOrder::post_norm ? &Recompute::norm : &Recompute::projection;
    typename AttentionLayer::Saved attention;
    Slice middle_MD;  ///< the residual stream between the two
    typename MlpLayer::Saved mlp;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : attention(activations, statistics, M),
          middle_MD(activations.take({M, D}, middle_choice)),
          mlp(activations, statistics, M) {}
  };
  /// What else backward needs: buffers that all blocks share.
  struct Temporary {
    PartTemporaries<R, AttentionOf, MlpOf> parts;
    Slice din_MD;      ///< gradient of what a part reads, where it does not take its place
    Slice dresult_MD;  ///< gradient of what a part gives, where it is not that of the residual stream
    constexpr Temporary(Layout& layout, std::int64_t M) : parts(layout, M) {
      if (AttentionLayer::rounds_in || MlpLayer::rounds_in) din_MD = layout.take({M, D});
      if (drops_residual<R> || order == BlockOrder::sandwich_norm) dresult_MD = layout.take({M, D});
    }
  };

  static void forward(const TensorsOf<R>& t, const Saved& saved);    ///< x to y, and fills Saved
  static void recompute(const TensorsOf<R>& t, const Saved& saved);  ///< fills again what the policy did not keep
  static void backward(const TensorsOf<R>& t, const Saved& saved);   ///< dx from dy in place; adds parameter gradients
  /// After a step, of a run of the tensors that are the block's own to update.
  static void update_state(auto queue, const auto& run, const std::int64_t* counters,
                           const auto& terms) requires(ComposedBlock::n_counters > 0) {
    static constexpr Params p;
    MlpOf<R>::update_state(queue, p.mlp.part, run, counters, terms);
  }
  /// After a step, of the same: the greatest magnitudes in it of the tensors that were rounded.
  static void record_maxima(auto queue, const auto& run, const std::int64_t* maxima,
                            const auto& terms) requires(ComposedBlock::n_maxima > 0) {
    static constexpr Params p;
    ComposedBlock::record_of_parts(queue, p.attention.part, p.mlp.part, run, maxima, terms);
  }
  /// New tokens against the cache, which tokens that come later must not change.
  static void decode(const DecodeTensorsOf<R>& t) requires PartsDecode<R, AttentionOf<R>, MlpOf<R>>;
};

/// Attention and MLP side by side, behind one norm.
template <class R, template <class Tower> class AttentionOf, template <class Tower> class MlpOf>
struct ComposedBlock<R, BlockOrder::parallel, AttentionOf, MlpOf>
    : PartsOfBlock<R, BlockOrder::parallel, AttentionOf, MlpOf> {
  static constexpr std::int64_t D = trunk_of<R>.d_model;

  struct Params : ParameterLayout {
    NormParams norm;
    typename AttentionOf<R>::Params attention;
    typename MlpOf<R>::Params mlp;
    constexpr explicit Params(int block = 0)
        : norm(*this, trunk_of<R>.norm, {"norm.weight", "norm.bias"}, D), attention(*this, block), mlp(*this, block) {}
  };
  struct Saved {
    Slice in_MD;
    NormStatistics norm;
    typename AttentionOf<R>::Saved attention;
    typename MlpOf<R>::Saved mlp;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : in_MD(activations.take({M, D}, &Recompute::norm)),
          norm(statistics, trunk_of<R>.norm, {1, M}),
          attention(activations, statistics, M),
          mlp(activations, statistics, M) {}
  };
  struct Temporary {
    PartTemporaries<R, AttentionOf, MlpOf> parts;
    Slice din_MD;      ///< gradient of what both parts read
    Slice dropped_MD;  ///< what a part gives before dropout, or its gradient
    constexpr Temporary(Layout& layout, std::int64_t M) : parts(layout, M), din_MD(layout.take({M, D})) {
      if (drops_residual<R>) dropped_MD = layout.take({M, D});
    }
  };

  static void forward(const TensorsOf<R>& t, const Saved& saved);
  static void recompute(const TensorsOf<R>& t, const Saved& saved);
  static void backward(const TensorsOf<R>& t, const Saved& saved);
  static void update_state(auto queue, const auto& run, const std::int64_t* counters,
                           const auto& terms) requires(ComposedBlock::n_counters > 0) {
    static constexpr Params p;
    MlpOf<R>::update_state(queue, p.mlp, run, counters, terms);
  }
  static void record_maxima(auto queue, const auto& run, const std::int64_t* maxima,
                            const auto& terms) requires(ComposedBlock::n_maxima > 0) {
    static constexpr Params p;
    ComposedBlock::record_of_parts(queue, p.attention, p.mlp, run, maxima, terms);
  }
  static void decode(const DecodeTensorsOf<R>& t) requires PartsDecode<R, AttentionOf<R>, MlpOf<R>>;
};

/// Blocks of these parts in this order, for `layers`: `Run<Composed<BlockOrder::parallel>::Block, n>`.
template <BlockOrder order, template <class Tower> class MlpOf = DenseMlp,
          template <class Tower> class AttentionOf = SelfAttention>
struct Composed {
  template <class R> struct Block : ComposedBlock<R, order, AttentionOf, MlpOf> {};
};

}  // namespace monomorph
