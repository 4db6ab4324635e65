#pragma once
#include <monomorph/block/composed_block.hpp>
#include <monomorph/block/mixture_rules.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/policy/kernel_sets.hpp>

namespace monomorph {

struct ElementUpdate;  // runtime/kernels/optimizer.hpp

inline constexpr MlpNames shared_expert_names{.gate_weight = "mlp.shared.gate.weight",
                                              .gate_bias = "mlp.shared.gate.bias",
                                              .up_weight = "mlp.shared.up.weight",
                                              .up_bias = "mlp.shared.up.bias",
                                              .down_weight = "mlp.shared.down.weight",
                                              .down_bias = "mlp.shared.down.bias",
                                              .of_block = false};

/// The experts that every token goes to, as one MLP; a part without anything if there are none.
template <class R, std::int64_t width> struct SharedExperts { using Part = MlpOfWidth<R, width, shared_expert_names>; };
template <class R> struct SharedExperts<R, 0> {
  struct Part {
    using Queue = typename device_of<R>::Queue;
    struct Params {
      constexpr Params(ParameterLayout&, int /*block*/) {}
    };
    struct Saved {
      constexpr Saved(SavedPlacement, SavedPlacement, std::int64_t /*M*/) {}
    };
    struct Temporary {
      constexpr Temporary(Layout&, std::int64_t /*M*/) {}
    };
    struct DecodeTemporary {
      constexpr DecodeTemporary(Layout&, Layout&, std::int64_t /*B*/) {}
    };
    struct DecodeCache {
      constexpr DecodeCache(Layout&, std::int64_t /*rows*/) {}
    };
    static constexpr std::int64_t compute_flops_per_token(Recompute /*what*/) { return 0; }
    static constexpr std::int64_t projection_flops_per_token() { return 0; }
  };
};

/// Where the router's decisions on M tokens lie: real numbers, and integers in the places of such. Both in the buffer
/// of statistics.
struct RoutingSlices {
  Slice scores_ME, weights_Mk;
  Slice lse_M;  ///< log-sum-exps of the logits, only for their loss
  Slice experts_Mk, rows_Mk, pairs_N, counts_E, begins_E;
  constexpr RoutingSlices(auto& statistics, std::int64_t M, std::int64_t E, std::int64_t k, std::int64_t N, bool lse)
      : scores_ME(statistics.take({M, E})),
        weights_Mk(statistics.take({M, k})),
        lse_M(lse ? statistics.take({1, M}) : Slice{}),
        experts_Mk(statistics.take({M, k})),
        rows_Mk(statistics.take({M, k})),
        pairs_N(statistics.take({1, N})),
        counts_E(statistics.take({1, E})),
        begins_E(statistics.take({1, E + 1})) {}
};

/// The MLP part of a block in which a router sends each token to a few of many MLPs, its experts
/// (docs/reference/mixture_of_experts.md). A token and one of its experts are a pair; the rows of a pair's activations
/// lie sorted by expert, so that an expert computes with matrices.
/// M = B·T tokens, D model width, E experts, k of them a token's, F an expert's hidden width (G = 2F if it is gated,
/// else F), N rows of pairs.
template <class R, MixtureSpec spec> struct MixtureOfExperts {
  using Queue = typename device_of<R>::Queue;
  using needs = KernelSets<kernels::Routing>;
  static constexpr const auto& model = trunk_of<R>;
  static constexpr MixtureSpec mixture = spec;
  static constexpr bool gated = is_gated(model.activation), has_bias = spec.bias_rate > 0,
                        has_shared = spec.n_shared > 0, is_dropless = !spec.capacity_factor.given;
  // Whatever a recipe says, there are sizes: its rules are judged beside those of what follows from them.
  static constexpr std::int64_t D = model.d_model, E = clamped(spec.n_experts, 2, most_experts),
                                k = clamped(spec.top_k, 1, E - 1),
                                F = clamped(spec.d_expert.value_or(model.ff_width()), 1, 1 << 24),
                                G = gated ? 2 * F : F;
  static constexpr int n_hidden = gated ? 2 : 1;  ///< matrices that make the hidden layer: the gate's, then up
  static constexpr NormNames norm_before{"mlp_norm.weight", "mlp_norm.bias"},
      norm_after{"mlp_post_norm.weight", "mlp_post_norm.bias"};
  static constexpr DropoutSite out_site = DropoutSite::mlp_out;
  static constexpr int n_counters = static_cast<int>(E);  ///< the tokens that chose each expert
  static constexpr bool has_auxiliary_loss = spec.balance_loss > 0 || spec.z_loss > 0;
  using Shared = typename SharedExperts<R, clamped(spec.n_shared, 0, most_experts) * F>::Part;
  template <class Recipe>
  using rules = decltype(rule::mixture_rules<spec, spec.d_expert.value_or(model.ff_width()), bool{model.bias.mlp}>());

  template <class Recipe> static void describe(auto& to) {
    to.add_size("MLP", model.ff_width(), trunk_of<Recipe>.ff_width());
    to.add(spec.n_experts.value, " experts of width ", F);
    to.add("top ", k, spec.scores == RouterScores::softmax ? " by softmax" : " by sigmoid",
           spec.normalize ? ", normalised" : "");
    if (spec.n_shared > 0) to.add(spec.n_shared.value, " shared");
    if (is_dropless)
      to.add("dropless");
    else
      to.add("capacity factor ", spec.capacity_factor.value);
    if (spec.balance_loss > 0) to.add("balance loss ", spec.balance_loss.value);
    if (spec.z_loss > 0) to.add("z-loss ", spec.z_loss.value);
    if (spec.bias_rate > 0) to.add("bias rate ", spec.bias_rate.value);
  }

  /// Tokens that an expert takes, of M.
  static constexpr std::int64_t capacity(std::int64_t M) {
    if (is_dropless) return M;
    const double exact = spec.capacity_factor.value * static_cast<double>(M * k) / static_cast<double>(E);
    const auto whole = static_cast<std::int64_t>(exact);
    return clamped(static_cast<double>(whole) < exact ? whole + 1 : whole, 1, M);
  }
  static constexpr std::int64_t rows(std::int64_t M) { return smaller_of(M * k, E * capacity(M)); }

  struct Params {
    Slice router_ExD, router_bias_E;
    Slice hidden_ExFxD[2], down_ExDxF;  ///< one expert's matrix below the other's
    typename Shared::Params shared;
    constexpr Params(ParameterLayout& layout, int block)
        : router_ExD(layout.take_tensor("mlp.router.weight", {E, D}, ParameterClass::linear, matrix)),
          router_bias_E(has_bias ? layout.take_tensor("mlp.router.bias", {1, E}, ParameterClass::state, zero)
                                 : Slice{}),
          hidden_ExFxD{take_hidden(layout, gated ? "mlp.experts.gate.weight" : "mlp.experts.up.weight"),
                       gated ? take_hidden(layout, "mlp.experts.up.weight") : Slice{}},
          down_ExDxF(layout.take_stacked("mlp.experts.down.weight", n, {D, F}, ParameterClass::linear,
                                         initializers::residual_matrix(model, block))),
          shared(layout, block) {}

   private:
    static constexpr int n = static_cast<int>(E);
    static constexpr Initializer matrix = initializers::matrix(model), zero = initializers::zero;
    static constexpr Slice take_hidden(ParameterLayout& layout, std::string_view name) {
      return layout.take_stacked(name, n, {F, D}, ParameterClass::linear, matrix);
    }
  };
  struct Saved {
    RoutingSlices routing;
    Slice up_NG, activated_NF;
    typename Shared::Saved shared;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : routing(statistics, M, E, k, rows(M), spec.z_loss > 0),
          up_NG(activations.take({rows(M), G}, &Recompute::mlp)),
          activated_NF(activations.take({rows(M), F}, &Recompute::activation)),
          shared(activations, statistics, M) {}
  };
  struct Temporary {
    Slice rows_ND, in_rows_ND, dactivated_NF;
    typename Shared::Temporary shared;
    constexpr Temporary(Layout& layout, std::int64_t M)
        : rows_ND(layout.take({rows(M), D})),
          in_rows_ND(layout.take({rows(M), D})),
          dactivated_NF(layout.take({rows(M), F})),
          shared(layout, M) {}
  };
  /// A decoder drops no token.
  struct DecodeTemporary {
    RoutingSlices routing;
    Slice rows_ND, up_NG, activated_NF;
    typename Shared::DecodeTemporary shared;
    constexpr DecodeTemporary(Layout& activations, Layout& statistics, std::int64_t B)
        : routing(statistics, B, E, k, B * k, false),
          rows_ND(activations.take({B * k, D})),
          up_NG(activations.take({B * k, G})),
          activated_NF(activations.take({B * k, F})),
          shared(activations, statistics, B) {}
  };
  struct DecodeCache {
    typename Shared::DecodeCache shared;
    constexpr DecodeCache(Layout& layout, std::int64_t rows) : shared(layout, rows) {}
  };

  /// FLOPs of the experts that a token goes to, if none is full.
  static constexpr std::int64_t matmul_flops_per_token() {
    return compute_flops_per_token(Recompute::block) + projection_flops_per_token();
  }
  /// What the router decides is kept, unless the whole block is computed again.
  static constexpr std::int64_t compute_flops_per_token(Recompute what) {
    return (what == Recompute::block ? 2 * E * D : 0) + (what.mlp ? 2 * k * G * D : 0) +
           Shared::compute_flops_per_token(what);
  }
  static constexpr std::int64_t projection_flops_per_token() {
    return 2 * k * F * D + Shared::projection_flops_per_token();
  }
  /// Parameters that a token does not meet.
  static constexpr std::int64_t idle_parameters() { return (E - k) * (G * D + F * D); }

  static void compute(const PartTensors<MixtureOfExperts>& t, View in, Recompute what);
  static void project(const PartTensors<MixtureOfExperts>& t, View residual, View out);
  static void backward(const PartTensors<MixtureOfExperts>& t, View in, View dout, View din, bool accumulate);
  static void decode(const PartDecode<MixtureOfExperts>& t, View in, View residual, View out);
  /// Moves the biases of a run of the unit's elements.   @param counters those of this block, over all ranks
  static void update_state(Queue queue, const Params& p, const ElementUpdate& run, const std::int64_t* counters,
                           const auto& terms);
};

/// Blocks with a mixture of experts, for `layers`: `Run<Mixture<MixtureSpec{.n_experts = 8, .top_k = 2}>::Block, n>`;
/// or their MLP part, for blocks of another order: `Composed<BlockOrder::parallel, Mixture<spec>::Mlp>::Block`.
template <MixtureSpec spec> struct Mixture {
  template <class R> using Mlp = MixtureOfExperts<R, spec>;
  template <class R> struct Block : ComposedBlock<R, BlockOrder::pre_norm, SelfAttention, Mlp> {};
};

/// The experts of a block of which they, the sizes of R's model and a mask say all that it computes: it is a mixture's,
/// with no other shape. Null of any other.
template <class R, class Block>
inline constexpr const MixtureSpec* mixture_of_block = [] {
  const MixtureSpec* experts = nullptr;
  if constexpr (requires { Block::MlpPart::mixture; })
    if constexpr (std::is_same_v<Block, typename Mixture<Block::MlpPart::mixture>::template Block<R>>)
      experts = &Block::MlpPart::mixture;
  return experts;
}();

}  // namespace monomorph
