#pragma once
#include <monomorph/block/describe_rotary.hpp>
#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/block/part.hpp>
#include <monomorph/block/scaled_products.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph {

/// The attention part of a block: projections to queries, keys and values, what attends, and the projection back.
/// M = B·T tokens, D model width, Q = N·H query width, K = KV·H key width.
template <class R> struct SelfAttention {
  using Queue = typename device_of<R>::Queue;
  static constexpr const auto& model = trunk_of<R>;
  static constexpr std::int64_t D = model.d_model, Q = model.q_width(), K = model.kv_width(), QKV = model.qkv_width();
  using Policy = attention_of<R>;
  static constexpr AttentionMask mask = Policy::mask;
  /// By which products of queries and keys are multiplied.
  static constexpr double score_scale() {
    return model.multiplier.attention.value_or(1 / initializers::square_root(static_cast<double>(model.head_width())));
  }
  static constexpr double score_cap() { return model.soft_cap.scores; }
  static constexpr NormNames norm_before{"attention_norm.weight", "attention_norm.bias"},
      norm_after{"attention_post_norm.weight", "attention_post_norm.bias"};
  static constexpr DropoutSite out_site = DropoutSite::attention_out;

  template <class Recipe> static void describe(auto& to) {
    constexpr const auto& usual = trunk_of<Recipe>;
    to.add_size("heads", model.n_heads, usual.n_heads);
    to.add_size("key heads", model.kv_heads(), usual.kv_heads());
    to.add_size("head width", model.head_width(), usual.head_width());
    if (model.rotary != usual.rotary) describe_rotary(model.rotary, to);
  }

  struct QueryWidths {
    static constexpr std::int64_t in = D, out = Q;
  };
  struct KeyWidths {
    static constexpr std::int64_t in = D, out = K;
  };
  struct OutWidths {
    static constexpr std::int64_t in = Q, out = D;
  };
  using QueryAdapter = LowRankAdapter<R, LowRankTarget::query, QueryWidths>;
  using KeyAdapter = LowRankAdapter<R, LowRankTarget::key, KeyWidths>;
  using ValueAdapter = LowRankAdapter<R, LowRankTarget::value, KeyWidths>;
  using OutAdapter = LowRankAdapter<R, LowRankTarget::output, OutWidths>;

  using Scaled = ScaledProducts<R, 2>;
  static constexpr int qkv_product = 0, out_product = 1;
  static constexpr ProductWidths products[2]{{D, QKV}, {Q, D}};
  static constexpr bool Recompute::*first_product = &Recompute::qkv;  ///< which computes it again
  static constexpr int first_maximum = 0;                             ///< of those of the block
  using ReadsRounded = SelfAttention;
  /// Whether the norm before the part gives 8 bits, as nothing but its first product, in fp8, reads what it makes.
  static constexpr bool rounds_in =
      Scaled::present && !QueryAdapter::present && !KeyAdapter::present && !ValueAdapter::present;
  /// Whether the gradients of queries, keys and values are rounded where they are rotated back, as nothing reads them
  /// in bf16.
  static constexpr bool rounds_dqkv =
      rounds_in && model.position == Position::rotary && !model.qk_norm && !model.bias.qkv;

  struct Adapters {
    typename QueryAdapter::Params q;
    typename KeyAdapter::Params k;
    typename ValueAdapter::Params v;
    typename OutAdapter::Params out;
    constexpr explicit Adapters(ParameterLayout& layout) : q(layout), k(layout), v(layout), out(layout) {}
  };
  struct BaseParams {
    Slice qkv_QKVxD, qkv_bias;
    NormParams q_norm_H, k_norm_H;
    Slice out_DxQ, out_bias_D;
    Slice amax_history;
    constexpr BaseParams(ParameterLayout& layout, int block) {
      using enum ParameterClass;
      const Initializer matrix = initializers::matrix(model);
      qkv_QKVxD = layout.take({QKV, D});
      layout.add_part("attention.q.weight", qkv_QKVxD, 0, Q, linear, matrix);
      layout.add_part("attention.k.weight", qkv_QKVxD, Q, K, linear, matrix);
      layout.add_part("attention.v.weight", qkv_QKVxD, Q + K, K, linear, matrix);
      if (model.bias.qkv) {
        qkv_bias = layout.take({1, QKV});
        layout.add_bias_part("attention.q.bias", qkv_bias, 0, Q);
        layout.add_bias_part("attention.k.bias", qkv_bias, Q, K);
        layout.add_bias_part("attention.v.bias", qkv_bias, Q + K, K);
      }
      if (model.qk_norm) {
        const std::int64_t H = model.head_width();
        q_norm_H = {layout, model.norm, {"attention.q_norm.weight", "attention.q_norm.bias"}, H};
        k_norm_H = {layout, model.norm, {"attention.k_norm.weight", "attention.k_norm.bias"}, H};
      }
      out_DxQ = layout.take_tensor("attention.out.weight", {D, Q}, linear, initializers::residual_matrix(model, block));
      if (model.bias.attention_out)
        out_bias_D = layout.take_tensor("attention.out.bias", {1, D}, bias, initializers::zero);
      amax_history = Scaled::take_history(layout, "attention.amax_history");
    }
  };
  /// What is adapted, and behind it the adapters.
  struct Params : BaseParams {
    Adapters adapters;
    constexpr Params(ParameterLayout& layout, int block) : BaseParams(layout, block), adapters(layout) {}
  };

  struct Saved {
    Slice qkv_M, qk_M, attended_MQ, lse;
    Slice q_hidden_Mr, k_hidden_Mr, v_hidden_Mr, out_hidden_Mr;  ///< of adapters
    NormStatistics q_norm, k_norm;
    Slice scales;
    typename Scaled::KeptWeights weights;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : weights(activations, products) {
      qkv_M = activations.take({M, QKV}, &Recompute::qkv);
      // Normalised and rotated; qkv_M has what the norm read.
      if (model.qk_norm) qk_M = activations.take({M, Q + K}, &Recompute::qkv);
      attended_MQ = activations.take({M, Q}, &Recompute::attention);
      lse = statistics.take({model.n_heads, M}, &Recompute::attention);
      if (model.qk_norm) {
        q_norm = {statistics, model.norm, {model.n_heads, M}};
        k_norm = {statistics, model.norm, {model.kv_heads(), M}};
      }
      q_hidden_Mr = QueryAdapter::hidden_Mr(activations, M, &Recompute::qkv);
      k_hidden_Mr = KeyAdapter::hidden_Mr(activations, M, &Recompute::qkv);
      v_hidden_Mr = ValueAdapter::hidden_Mr(activations, M, &Recompute::qkv);
      out_hidden_Mr = OutAdapter::hidden_Mr(activations, M, &Recompute::attention);
      scales = Scaled::take_scales(statistics);
    }
  };
  struct Temporary {
    Slice dqkv_M, dattended_MQ;
    Slice dropped_M;  ///< of adapters
    Slice room;       ///< of rounded tensors, in forward, too
    constexpr Temporary(Layout& layout, std::int64_t M)
        : dqkv_M(layout.take({M, QKV})),
          dattended_MQ(layout.take({M, Q})),
          dropped_M(take_dropped<QueryAdapter, KeyAdapter, ValueAdapter, OutAdapter>(layout, M)),
          room(Scaled::take_room(layout, M, products)) {}
  };
  struct DecodeTemporary {
    Slice qkv_B, attended_BQ, lse;
    Slice hidden_Br;  ///< of one adapter after the other
    NormStatistics head_norm;
    constexpr DecodeTemporary(Layout& activations, Layout& statistics, std::int64_t B)
        : qkv_B(activations.take({B, QKV})),
          attended_BQ(activations.take({B, Q})),
          lse(statistics.take({model.n_heads, B})),
          hidden_Br(take_hidden<QueryAdapter, KeyAdapter, ValueAdapter, OutAdapter>(activations, B)) {
      if (model.qk_norm) head_norm = {statistics, model.norm, {model.n_heads, B}};
    }
  };
  /// Keys and values of tokens, in pages.
  struct DecodeCache {
    Slice k, v;
    constexpr DecodeCache(Layout& layout, std::int64_t rows) : k(layout.take({rows, K})), v(layout.take({rows, K})) {}
  };

  static constexpr std::int64_t matmul_flops_per_token() {
    return compute_flops_per_token(Recompute::block) + projection_flops_per_token();
  }
  static constexpr std::int64_t compute_flops_per_token(Recompute what) {
    const std::int64_t qkv =
        2 * QKV * D + QueryAdapter::flops_per_token() + KeyAdapter::flops_per_token() + ValueAdapter::flops_per_token();
    return (what.qkv ? qkv : 0) + (what.attention ? OutAdapter::flops_of_a() : 0);
  }
  static constexpr std::int64_t projection_flops_per_token() { return 2 * Q * D + OutAdapter::flops_of_b(); }
  /// Scores and values, over the keys that a query sees, (T + 1) / 2 on average where the mask is causal. Attention
  /// within documents does less, by how much the data decides.
  static constexpr double attention_flops_per_token() {
    const std::int64_t T = model.context_length;
    return 4.0 * static_cast<double>(Q) * static_cast<double>(mask.pairs(T)) / static_cast<double>(T);
  }

  static void compute(const PartTensors<SelfAttention>& t, View in, Recompute what);
  static void project(const PartTensors<SelfAttention>& t, View residual, View out);
  static void backward(const PartTensors<SelfAttention>& t, View in, View dout, View din, bool accumulate);
  static void decode(const PartDecode<SelfAttention>& t, View in, View residual, View out);
};

}  // namespace monomorph
