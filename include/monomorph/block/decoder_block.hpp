#pragma once
#include <monomorph/block/initializers.hpp>
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph {

struct BlockTensors;   // model/block_tensors.hpp
struct DecodeTensors;  // model/decode_tensors.hpp

/// Where a block's Saved slices lie: `kept` until backward, or in `scratch`, which all blocks share and backward fills
/// again.
struct SavedPlacement {
  Layout& kept;
  Layout& scratch;
  Recompute recompute;
  constexpr Slice take(Shape shape) { return (recompute == Recompute::block ? scratch : kept).take(shape); }
  /// A slice for activations that are cheap to compute again.
  constexpr Slice take_cheap(Shape shape) { return (recompute == Recompute::nothing ? kept : scratch).take(shape); }
};

/// Pre-norm transformer block: x + attention(norm(x)), then + mlp(norm(·)). Here is what the plan must know; the bodies
/// are below the firewall, in model/decoder_block.hpp.
/// M = B·T tokens, D model width, Q = N·H query width, K = KV·H key width, F hidden width (G = 2F for SwiGLU, else F).
template <class R> struct DecoderBlock {
  static constexpr const auto& model = R::model;
  static constexpr bool gated = model.activation == Activation::swiglu;
  static constexpr std::int64_t D = model.d_model, Q = model.q_width(), K = model.kv_width(), F = model.ff_width(),
                                G = gated ? 2 * F : F, QKV = model.qkv_width();
  using Attention = attention_of<R>;
  static constexpr AttentionMask mask = Attention::mask;
  static constexpr bool within_documents = true;  ///< can keep to documents, should the recipe's attention ask for it

  struct Params : ParameterLayout {
    Slice attention_norm_D, attention_norm_bias_D, qkv_QKVxD, qkv_bias, q_norm_H, q_norm_bias_H, k_norm_H,
        k_norm_bias_H, out_DxQ, out_bias_D, mlp_norm_D, mlp_norm_bias_D, up_GxD, up_bias_G, down_DxF, down_bias_D;
    constexpr explicit Params(int block = 0) {
      using enum ParameterClass;
      const Initializer matrix = initializers::matrix(model), residual = initializers::residual_matrix(model, block);
      take_norm("attention_norm.weight", "attention_norm.bias", D, attention_norm_D, attention_norm_bias_D);
      qkv_QKVxD = take({QKV, D});
      add_part("attention.q.weight", qkv_QKVxD, 0, Q, linear, matrix);
      add_part("attention.k.weight", qkv_QKVxD, Q, K, linear, matrix);
      add_part("attention.v.weight", qkv_QKVxD, Q + K, K, linear, matrix);
      if (model.bias.qkv) {
        qkv_bias = take({1, QKV});
        add_bias_part("attention.q.bias", qkv_bias, 0, Q);
        add_bias_part("attention.k.bias", qkv_bias, Q, K);
        add_bias_part("attention.v.bias", qkv_bias, Q + K, K);
      }
      if (model.qk_norm) {
        take_norm("attention.q_norm.weight", "attention.q_norm.bias", model.head_width(), q_norm_H, q_norm_bias_H);
        take_norm("attention.k_norm.weight", "attention.k_norm.bias", model.head_width(), k_norm_H, k_norm_bias_H);
      }
      out_DxQ = take_tensor("attention.out.weight", {D, Q}, linear, residual);
      if (model.bias.attention_out) out_bias_D = take_tensor("attention.out.bias", {1, D}, bias, initializers::zero);
      take_norm("mlp_norm.weight", "mlp_norm.bias", D, mlp_norm_D, mlp_norm_bias_D);
      up_GxD = take({G, D});
      if (gated) add_part("mlp.gate.weight", up_GxD, 0, F, linear, matrix);
      add_part("mlp.up.weight", up_GxD, G - F, F, linear, matrix);
      if (model.bias.mlp) {
        up_bias_G = take({1, G});
        if (gated) add_bias_part("mlp.gate.bias", up_bias_G, 0, F);
        add_bias_part("mlp.up.bias", up_bias_G, G - F, F);
      }
      down_DxF = take_tensor("mlp.down.weight", {D, F}, linear, residual);
      if (model.bias.mlp) down_bias_D = take_tensor("mlp.down.bias", {1, D}, bias, initializers::zero);
    }

   private:
    constexpr void take_norm(std::string_view weight_name, std::string_view bias_name, std::int64_t width,
                             Slice& weight, Slice& bias) {
      weight = take_tensor(weight_name, {1, width}, ParameterClass::norm, initializers::one);
      if (model.norm.bias) bias = take_tensor(bias_name, {1, width}, ParameterClass::bias, initializers::zero);
    }
  };

  /// What backward reads, as slices of two flat buffers: activations, and statistics of fp32 at least.
  struct Saved {
    Slice attention_in_MD, qkv_M, qk_M, attention_out_MQ, middle_MD, mlp_in_MD, up_MG, activated_MF;
    Slice attention_mean_M, attention_rstd_M, q_mean, q_rstd, k_mean, k_rstd, lse, mlp_mean_M, mlp_rstd_M;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M) {
      const bool centred = model.norm.kind == NormKind::layer_norm;
      attention_in_MD = activations.take_cheap({M, D});
      qkv_M = activations.take({M, QKV});
      if (model.qk_norm) qk_M = activations.take({M, Q + K});  // normalised and rotated; qkv_M has what the norm read
      attention_out_MQ = activations.take({M, Q});
      middle_MD = activations.take({M, D});
      mlp_in_MD = activations.take_cheap({M, D});
      up_MG = activations.take({M, G});
      activated_MF = activations.take_cheap({M, F});
      if (centred) attention_mean_M = statistics.take({1, M}), mlp_mean_M = statistics.take({1, M});
      attention_rstd_M = statistics.take({1, M});
      mlp_rstd_M = statistics.take({1, M});
      lse = statistics.take({model.n_heads, M});
      if (model.qk_norm) {
        if (centred) q_mean = statistics.take({model.n_heads, M}), k_mean = statistics.take({model.kv_heads(), M});
        q_rstd = statistics.take({model.n_heads, M});
        k_rstd = statistics.take({model.kv_heads(), M});
      }
    }
  };

  /// What else backward needs: buffers that all blocks share.
  struct Temporary {
    Slice dqkv_M, dattention_MQ, dropped_MD;
    constexpr Temporary(Layout& layout, std::int64_t M) {
      dqkv_M = layout.take({M, QKV});
      dattention_MQ = layout.take({M, Q});
      if (model.dropout.residual > 0) dropped_MD = layout.take({M, D});
    }
  };

  /// Products with parameters per token, forward: one multiply-add is two.
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * (QKV * D + Q * D + G * D + F * D); }
  /// Scores and values, over the keys that a query sees, (T + 1) / 2 on average where the mask is causal. Attention
  /// within documents does less, by how much the data decides.
  static constexpr double attention_flops_per_token() {
    const std::int64_t T = model.context_length;
    return 4.0 * static_cast<double>(Q) * static_cast<double>(mask.pairs(T)) / static_cast<double>(T);
  }

  static void forward(const BlockTensors& t, const Saved& saved);    ///< x to y, and fills Saved
  static void recompute(const BlockTensors& t, const Saved& saved);  ///< fills again what the policy did not keep
  static void backward(const BlockTensors& t, const Saved& saved);   ///< dx from dy in place; adds parameter gradients
  /// One token against the cache, which tokens that come later must not change.
  static void decode(const DecodeTensors& t) requires(!attention_of<R>::mask.looks_ahead());
};

/// R with another attention.
template <class R, AttentionPolicy Policy> struct WithAttention : R { using attention = Policy; };

/// Decoder blocks with an attention of their own, where layers differ: `Run<DecoderBlockWith<Policy>::Block, n>`.
template <AttentionPolicy Policy> struct DecoderBlockWith {
  template <class R> using Block = DecoderBlock<WithAttention<R, Policy>>;
};

}  // namespace monomorph
