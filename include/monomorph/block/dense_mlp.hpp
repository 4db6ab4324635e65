#pragma once
#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/block/part.hpp>
#include <monomorph/block/scaled_products.hpp>

namespace monomorph {

/// The names of an MLP's tensors.
struct MlpNames {
  std::string_view gate_weight, gate_bias, up_weight, up_bias, down_weight, down_bias;
  bool of_block = true;  ///< or else of what shares a block's tokens with others
};
inline constexpr MlpNames mlp_names{"mlp.gate.weight", "mlp.gate.bias",   "mlp.up.weight",
                                    "mlp.up.bias",     "mlp.down.weight", "mlp.down.bias"};

/// An MLP of one hidden layer, through which every token goes.
/// M = B·T tokens, D model width, F hidden width (G = 2F if it is gated, else F).
template <class R, std::int64_t width, const MlpNames& names> struct MlpOfWidth {
  using Queue = typename device_of<R>::Queue;
  static constexpr const auto& model = trunk_of<R>;
  static constexpr bool gated = is_gated(model.activation);
  static constexpr std::int64_t D = model.d_model, F = width, G = gated ? 2 * F : F;
  static constexpr NormNames norm_before{"mlp_norm.weight", "mlp_norm.bias"},
      norm_after{"mlp_post_norm.weight", "mlp_post_norm.bias"};
  static constexpr DropoutSite out_site = DropoutSite::mlp_out;

  template <class Recipe> static void describe(auto& to) { to.add_size("MLP", F, trunk_of<Recipe>.ff_width()); }

  struct UpWidths {
    static constexpr std::int64_t in = D, out = F;
  };
  struct DownWidths {
    static constexpr std::int64_t in = F, out = D;
  };
  using GateAdapter = LowRankAdapter<R, LowRankTarget::gate, UpWidths, names.of_block && gated>;
  using UpAdapter = LowRankAdapter<R, LowRankTarget::up, UpWidths, names.of_block>;
  using DownAdapter = LowRankAdapter<R, LowRankTarget::down, DownWidths, names.of_block>;

  using Scaled = ScaledProducts<R, 2, names.of_block>;
  static constexpr int up_product = 0, down_product = 1;
  static constexpr ProductWidths products[2]{{D, G}, {F, D}};
  static constexpr bool Recompute::*first_product = &Recompute::mlp;  ///< which computes it again
  static constexpr int first_maximum = 6;                             ///< of those of the block, behind attention's
  using ReadsRounded = MlpOfWidth;
  /// Whether the norm before the part gives 8 bits, as nothing but its first product, in fp8, reads what it makes.
  static constexpr bool rounds_in = Scaled::present && !GateAdapter::present && !UpAdapter::present;
  /// Whether the activation gives 8 bits, as nothing but a product in fp8 reads what it makes. They are kept
  /// transposed.
  static constexpr bool rounds_activated = Scaled::present && !DownAdapter::present;
  /// Whether what reads the gradient of `up` does so in bf16.
  static constexpr bool stores_dup = !Scaled::present || model.bias.mlp || GateAdapter::present || UpAdapter::present;

  struct Adapters {
    typename GateAdapter::Params gate;
    typename UpAdapter::Params up;
    typename DownAdapter::Params down;
    constexpr explicit Adapters(ParameterLayout& layout) : gate(layout), up(layout), down(layout) {}
  };
  struct BaseParams {
    Slice up_GxD, up_bias_G, down_DxF, down_bias_D;
    Slice amax_history;
    constexpr BaseParams(ParameterLayout& layout, int block) {
      using enum ParameterClass;
      const Initializer matrix = initializers::matrix(model);
      up_GxD = layout.take({G, D});
      if (gated) layout.add_part(names.gate_weight, up_GxD, 0, F, linear, matrix);
      layout.add_part(names.up_weight, up_GxD, G - F, F, linear, matrix);
      if (model.bias.mlp) {
        up_bias_G = layout.take({1, G});
        if (gated) layout.add_bias_part(names.gate_bias, up_bias_G, 0, F);
        layout.add_bias_part(names.up_bias, up_bias_G, G - F, F);
      }
      down_DxF = layout.take_tensor(names.down_weight, {D, F}, linear, initializers::residual_matrix(model, block));
      if (model.bias.mlp) down_bias_D = layout.take_tensor(names.down_bias, {1, D}, bias, initializers::zero);
      amax_history = Scaled::take_history(layout, "mlp.amax_history");
    }
  };
  /// What is adapted, and behind it the adapters.
  struct Params : BaseParams {
    Adapters adapters;
    constexpr Params(ParameterLayout& layout, int block) : BaseParams(layout, block), adapters(layout) {}
  };
  struct Saved {
    Slice up_MG;
    Slice activated_MF;                                  ///< or what rounds_activated says
    Slice gate_hidden_Mr, up_hidden_Mr, down_hidden_Mr;  ///< of adapters
    Slice scales;
    typename Scaled::KeptWeights weights;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : up_MG(activations.take({M, G}, &Recompute::mlp)),
          activated_MF(activations.take(rounds_activated ? Scaled::kept_input(M, products[down_product]) : Shape{M, F},
                                        &Recompute::activation)),
          gate_hidden_Mr(GateAdapter::hidden_Mr(activations, M, &Recompute::mlp)),
          up_hidden_Mr(UpAdapter::hidden_Mr(activations, M, &Recompute::mlp)),
          down_hidden_Mr(DownAdapter::hidden_Mr(activations, M, &Recompute::mlp)),
          scales(Scaled::take_scales(statistics)),
          weights(activations, products) {}
  };
  struct Temporary {
    Slice dropped_M;  ///< of adapters
    Slice room;       ///< of rounded tensors, in forward, too
    Slice dactivated_MF;
    constexpr Temporary(Layout& layout, std::int64_t M)
        : dropped_M(take_dropped<GateAdapter, UpAdapter, DownAdapter>(layout, M)),
          room(Scaled::take_room(layout, M, products)),
          dactivated_MF(rounds_activated ? layout.take({M, F}) : Slice{}) {}
  };
  struct DecodeTemporary {
    Slice up_BG, activated_BF;
    Slice hidden_Br;  ///< of one adapter after the other
    constexpr DecodeTemporary(Layout& activations, Layout& /*statistics*/, std::int64_t B)
        : up_BG(activations.take({B, G})),
          activated_BF(activations.take({B, F})),
          hidden_Br(take_hidden<GateAdapter, UpAdapter, DownAdapter>(activations, B)) {}
  };
  struct DecodeCache {
    constexpr DecodeCache(Layout&, std::int64_t /*rows*/) {}
  };

  static constexpr std::int64_t matmul_flops_per_token() {
    return compute_flops_per_token(Recompute::block) + projection_flops_per_token();
  }
  static constexpr std::int64_t compute_flops_per_token(Recompute what) {
    if (!what.mlp) return 0;
    return 2 * G * D + GateAdapter::flops_per_token() + UpAdapter::flops_per_token() + DownAdapter::flops_of_a();
  }
  static constexpr std::int64_t projection_flops_per_token() { return 2 * F * D + DownAdapter::flops_of_b(); }

  static void compute(const PartTensors<MlpOfWidth>& t, View in, Recompute what);
  static void project(const PartTensors<MlpOfWidth>& t, View residual, View out);
  static void backward(const PartTensors<MlpOfWidth>& t, View in, View dout, View din, bool accumulate);
  static void decode(const PartDecode<MlpOfWidth>& t, View in, View residual, View out);

 private:
  static View activated(const PartTensors<MlpOfWidth>& t);
  static void round_activated(const PartTensors<MlpOfWidth>& t, Recompute what);
  static View backward_activation(const PartTensors<MlpOfWidth>& t, View dout);
};

/// The MLP part of a block that is as wide as the model says.
template <class R> using DenseMlp = MlpOfWidth<R, trunk_of<R>.ff_width(), mlp_names>;

}  // namespace monomorph
