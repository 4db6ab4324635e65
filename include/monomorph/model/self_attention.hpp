#pragma once
#include <monomorph/block/self_attention.hpp>
#include <monomorph/model/low_rank_adapters.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/model/part_tensors.hpp>
#include <monomorph/model/scaled_products.hpp>
#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/qk_norm_rotary.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>

/// The bodies of SelfAttention.
namespace monomorph {

namespace detail {

/// One pass's views of an attention part, with the names of the arithmetic.
template <class R> struct AttentionPass {
  using Part = SelfAttention<R>;
  static constexpr const auto& model = trunk_of<R>;
  static constexpr std::int64_t Q = Part::Q, K = Part::K;

  const PartTensors<Part>& t;
  View qkv = t.activation(t.saved.qkv_M), v = qkv.columns(Q + K, K);
  View qk = model.qk_norm ? t.activation(t.saved.qk_M) : qkv.columns(0, Q + K);
  View q = qk.columns(0, Q), k = qk.columns(Q, K), attended = t.activation(t.saved.attended_MQ);
  View lse_BNT = t.statistic(t.saved.lse).reshaped({t.t.batch * model.n_heads, t.t.tokens});
  AttentionShape shape{t.t.batch,          t.t.tokens,          model.n_heads,    model.kv_heads(),
                       model.head_width(), Part::score_scale(), Part::score_cap()};
};

/// Adds what the adapters of queries, keys and values make of the part's input.
template <class R> void adapt_qkv(const PartTensors<SelfAttention<R>>& t, View in, View qkv) {
  using Part = SelfAttention<R>;
  const auto& [q, k, v, out] = t.p.adapters;
  model::adapter_compute<typename Part::QueryAdapter>(t, q, in, t.saved.q_hidden_Mr);
  model::adapter_add<typename Part::QueryAdapter>(t, q, t.saved.q_hidden_Mr, qkv.columns(0, Part::Q));
  model::adapter_compute<typename Part::KeyAdapter>(t, k, in, t.saved.k_hidden_Mr);
  model::adapter_add<typename Part::KeyAdapter>(t, k, t.saved.k_hidden_Mr, qkv.columns(Part::Q, Part::K));
  model::adapter_compute<typename Part::ValueAdapter>(t, v, in, t.saved.v_hidden_Mr);
  model::adapter_add<typename Part::ValueAdapter>(t, v, t.saved.v_hidden_Mr, qkv.columns(Part::Q + Part::K, Part::K));
}
/// The gradients of these adapters' matrices.
template <class R> void adapters_backward(const PartTensors<SelfAttention<R>>& t, View dqkv, View in) {
  using Part = SelfAttention<R>;
  const auto& [q, k, v, out] = t.p.adapters;
  const View dq = dqkv.columns(0, Part::Q), dk = dqkv.columns(Part::Q, Part::K),
             dv = dqkv.columns(Part::Q + Part::K, Part::K);
  model::adapter_backward<typename Part::QueryAdapter>(t, q, dq, in, t.saved.q_hidden_Mr);
  model::adapter_backward<typename Part::KeyAdapter>(t, k, dk, in, t.saved.k_hidden_Mr);
  model::adapter_backward<typename Part::ValueAdapter>(t, v, dv, in, t.saved.v_hidden_Mr);
}
template <class R> void adapters_backward_input(const PartTensors<SelfAttention<R>>& t, View din) {
  using Part = SelfAttention<R>;
  const auto& [q, k, v, out] = t.p.adapters;
  model::adapter_backward_input<typename Part::QueryAdapter>(t, q, t.saved.q_hidden_Mr, din);
  model::adapter_backward_input<typename Part::KeyAdapter>(t, k, t.saved.k_hidden_Mr, din);
  model::adapter_backward_input<typename Part::ValueAdapter>(t, v, t.saved.v_hidden_Mr, din);
}

template <class Part>
HeadNorm head_norm(const PartTensors<Part>& t, const NormParams& p, const NormStatistics& statistics, View x) {
  return {.x_MN = x,
          .weight_H = t.param(p.weight_D),
          .bias_H = t.param(p.bias_D),
          .mean_MN = t.statistic(statistics.mean),
          .rstd_MN = t.statistic(statistics.rstd)};
}

/// Queries, keys and values, as attention reads them.
template <class R> void make_qkv(const AttentionPass<R>& pass, View in) {
  using Part = SelfAttention<R>;
  const auto& [t, qkv, v, qk, q, k, attended, lse_BNT, shape] = pass;
  model::product(t, Part::qkv_product, in, t.param(t.p.qkv_QKVxD), t.param(t.p.qkv_bias), qkv);
  adapt_qkv<R>(t, in, qkv);
  constexpr bool rotates = Part::model.position == Position::rotary;
  if constexpr (Part::model.qk_norm && rotates) {
    normalize_and_rotate<Part::model.norm.kind>(
        t.queue, QkNormRotary{.q = head_norm(t, t.p.q_norm_H, t.saved.q_norm, qkv.columns(0, Part::Q)),
                              .k = head_norm(t, t.p.k_norm_H, t.saved.k_norm, qkv.columns(Part::Q, Part::K)),
                              .epsilon = Part::model.norm.epsilon,
                              .qk_M = qk,
                              .cos_TH = t.t.rotary_cos_TH,
                              .sin_TH = t.t.rotary_sin_TH,
                              .tokens = t.t.tokens,
                              .document_starts_M = t.t.document_starts});
  } else if constexpr (Part::model.qk_norm) {
    model::normalize<R>(t.t, t.p.q_norm_H, t.saved.q_norm, qkv.columns(0, Part::Q), q);
    model::normalize<R>(t.t, t.p.k_norm_H, t.saved.k_norm, qkv.columns(Part::Q, Part::K), k);
  } else if constexpr (rotates) {
    rotary(t.queue, qk, t.t.rotary_cos_TH, t.t.rotary_sin_TH, t.t.tokens, 0, false, t.t.document_starts);
  }
}

template <class R> void attend(const AttentionPass<R>& pass) {
  using Part = SelfAttention<R>;
  const auto& [t, qkv, v, qk, q, k, attended, lse_BNT, shape] = pass;
  if constexpr (Part::model.attention_kernel == AttentionKernel::tiled)
    tiled_attention(t.queue, q, k, v, attended, lse_BNT, shape, Part::mask, t.t.document_starts);
  else
    reference_attention(t.queue, q, k, v, attended, lse_BNT, shape, Part::mask,
                        dropout_key(t.t, DropoutSite::attention, Part::model.dropout.attention), t.t.document_starts);
  model::adapter_compute<typename Part::OutAdapter>(t, t.p.adapters.out, attended, t.saved.out_hidden_Mr);
}

}  // namespace detail

template <class R> void SelfAttention<R>::compute(const PartTensors<SelfAttention>& t, View in, Recompute what) {
  const detail::AttentionPass<R> pass{t};
  if (what.qkv) detail::make_qkv<R>(pass, in);
  if (what.attention) detail::attend<R>(pass);
}

template <class R> void SelfAttention<R>::project(const PartTensors<SelfAttention>& t, View residual, View out) {
  model::product_add(t, out_product, t.activation(t.saved.attended_MQ), t.param(t.p.out_DxQ), t.param(t.p.out_bias_D),
                     residual, out);
  model::adapter_add<OutAdapter>(t, t.p.adapters.out, t.saved.out_hidden_Mr, out);
}

template <class R>
void SelfAttention<R>::backward(const PartTensors<SelfAttention>& t, View in, View dout, View din, bool accumulate) {
  const detail::AttentionPass<R> pass{t};
  const auto& [_, qkv, v, qk, q, k, attended, lse_BNT, shape] = pass;
  const View dattended = t.activation(t.temporary.dattended_MQ), dqkv = t.activation(t.temporary.dqkv_M);
  model::product_backward_weight(t, out_product, dout, attended, t.gradient(t.p.out_DxQ), t.gradient(t.p.out_bias_D));
  model::adapter_backward<OutAdapter>(t, t.p.adapters.out, dout, attended, t.saved.out_hidden_Mr);
  model::product_backward_input(t, out_product, dout, t.param(t.p.out_DxQ), dattended);
  model::adapter_backward_input<OutAdapter>(t, t.p.adapters.out, t.saved.out_hidden_Mr, dattended);
  const View dq = dqkv.columns(0, Q), dk = dqkv.columns(Q, K), dv = dqkv.columns(Q + K, K);
  if constexpr (model.attention_kernel == AttentionKernel::tiled)
    tiled_attention_backward(t.queue, q, k, v, attended, lse_BNT, dattended, dq, dk, dv, shape, mask,
                             t.t.document_starts);
  else
    reference_attention_backward(t.queue, q, k, v, attended, lse_BNT, dattended, dq, dk, dv, shape, mask,
                                 dropout_key(t.t, DropoutSite::attention, model.dropout.attention),
                                 t.t.document_starts);
  if constexpr (model.position == Position::rotary && !rounds_dqkv)
    rotary(t.queue, dqkv.columns(0, Q + K), t.t.rotary_cos_TH, t.t.rotary_sin_TH, t.t.tokens, 0, true,
           t.t.document_starts);
  if constexpr (model.qk_norm) {
    model::normalize_backward<R>(t.t, t.p.q_norm_H, t.saved.q_norm, dq, qkv.columns(0, Q), dq, false);
    model::normalize_backward<R>(t.t, t.p.k_norm_H, t.saved.k_norm, dk, qkv.columns(Q, K), dk, false);
  }
  const View dweight = t.gradient(t.p.qkv_QKVxD);
  if constexpr (rounds_dqkv) {
    scaled_rotary_backward(t.queue, dqkv, Q + K, t.t.rotary_cos_TH, t.t.rotary_sin_TH, t.t.tokens, t.t.document_starts,
                           dweight.present(), model::scaled_product(t, qkv_product));
    model::product_backward_rounded(t, qkv_product, View{}, in, dweight, View{});
  } else {
    model::product_backward_weight(t, qkv_product, dqkv, in, dweight, t.gradient(t.p.qkv_bias));
  }
  detail::adapters_backward<R>(t, dqkv, in);
  model::product_backward_input(t, qkv_product, dqkv, t.param(t.p.qkv_QKVxD), din, accumulate);
  detail::adapters_backward_input<R>(t, din);
  model::no_gradient_of_history(t);
}

/// New tokens whose sequences begin with them attend among themselves, as documents of one row do in training, and with
/// the same bits. Others attend to what the cache has.
template <class R> void SelfAttention<R>::decode(const PartDecode<SelfAttention>& t, View in, View residual, View out) {
  const View qkv = t.activation(t.temporary.qkv_B), attended = t.activation(t.temporary.attended_BQ),
             k_cache = t.cached(t.cache.k), v_cache = t.cached(t.cache.v);
  const View q = qkv.columns(0, Q), k = qkv.columns(Q, K), v = qkv.columns(Q + K, K);
  const PagedTokens& tokens = t.t.tokens;
  linear(t.queue, in, t.param(t.p.qkv_QKVxD), t.param(t.p.qkv_bias), qkv);
  model::adapter_decode<QueryAdapter>(t, t.p.adapters.q, in, q);
  model::adapter_decode<KeyAdapter>(t, t.p.adapters.k, in, k);
  model::adapter_decode<ValueAdapter>(t, t.p.adapters.v, in, v);
  if constexpr (model.qk_norm) {
    model::normalize<R>(t.t, t.p.q_norm_H, t.temporary.head_norm, q, q);
    model::normalize<R>(t.t, t.p.k_norm_H, t.temporary.head_norm, k, k);
  }
  if constexpr (model.position == Position::rotary)
    rotary(t.queue, qkv.columns(0, Q + K), t.t.rotary_cos_TH, t.t.rotary_sin_TH, t.t.batch, 0, false, tokens.origins_B);
  write_to_pages(t.queue, k, k_cache, tokens);
  write_to_pages(t.queue, v, v_cache, tokens);
  const AttentionShape shape{1,          t.t.batch, model.n_heads, model.kv_heads(), model.head_width(), score_scale(),
                             score_cap()};
  if (tokens.from_beginning)
    tiled_attention(t.queue, q, k, v, attended, t.statistic(t.temporary.lse).reshaped({model.n_heads, t.t.batch}),
                    shape, mask, tokens.origins_B);
  else
    paged_attention(t.queue, q, k_cache, v_cache, attended, shape, mask, tokens);
  linear_add(t.queue, attended, t.param(t.p.out_DxQ), t.param(t.p.out_bias_D), residual, out);
  model::adapter_decode<OutAdapter>(t, t.p.adapters.out, attended, out);
}

}  // namespace monomorph
