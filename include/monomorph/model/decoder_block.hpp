#pragma once
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/model/activate.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/model/decode_tensors.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>

/// The bodies of DecoderBlock. Shapes: M = B·T tokens, D model, Q = N·H, K = KV·H, F hidden, G = F or 2F.
namespace monomorph {

namespace detail {

/// One call's views of a decoder block, with the names of the arithmetic. Activations that backward overwrites with
/// their own gradients are noted there.
template <class R> struct DecoderCall {
  using Block = DecoderBlock<R>;
  using Saved = typename Block::Saved;
  static constexpr const ModelSpec& model = R::model;
  static constexpr std::int64_t Q = Block::Q, K = Block::K;
  static constexpr bool rotates = model.position == Position::rotary;
  static constexpr bool drops = model.dropout.residual > 0;
  enum Site : std::uint32_t { attention_site = 1, attention_out_site = 2, mlp_out_site = 3 };

  const BlockTensors& t;
  const Saved& saved;
  typename Block::Params p{};

  View param(Slice slice) const { return t.params[slice]; }
  View gradient(Slice slice) const { return t.gradients[slice]; }
  View activation(Slice slice) const { return t.activations[slice]; }
  View statistic(Slice slice) const { return t.statistics[slice]; }

  View qkv() const { return activation(saved.qkv_M); }
  View v() const { return qkv().columns(Q + K, K); }
  View qk() const { return model.qk_norm ? activation(saved.qk_M) : qkv().columns(0, Q + K); }
  View attention_in() const { return activation(saved.attention_in_MD); }
  View attention_out() const { return activation(saved.attention_out_MQ); }
  View middle() const { return activation(saved.middle_MD); }
  View mlp_in() const { return activation(saved.mlp_in_MD); }
  View up() const { return activation(saved.up_MG); }
  View activated() const { return activation(saved.activated_MF); }
  View lse_BNT() const { return statistic(saved.lse).reshaped({t.batch * model.n_heads, t.tokens}); }

  kernels::AttentionShape attention_shape() const;
  kernels::DropoutKey dropout_key(Site site, double rate) const;

  void attention_input() const;  ///< norm(x)
  void attention() const;        ///< q, k, v and what attends
  void attention_residual() const;
  void mlp_input() const;
  void mlp_hidden() const;
  void activate() const { model::activate<model.activation>(up(), activated()); }
  void mlp_residual() const;

  void mlp_backward() const;
  void attention_backward() const;
  void qk_norm_backward(View dqkv) const;
  View residual_gradient(Site site) const;
};

template <class R> kernels::AttentionShape DecoderCall<R>::attention_shape() const {
  const double head_width = static_cast<double>(model.head_width());
  return {t.batch,          t.tokens,           model.n_heads,
          model.kv_heads(), model.head_width(), 1 / initializers::square_root(head_width)};
}

template <class R> kernels::DropoutKey DecoderCall<R>::dropout_key(Site site, double rate) const {
  kernels::DropoutKey key = t.dropout;
  key.layer = static_cast<std::uint32_t>(t.block + 1);
  key.site = site;
  key.rate = t.training ? rate : 0;
  return key;
}

template <class R> void DecoderCall<R>::attention_input() const {
  model::normalize<R>(t.x_MD, param(p.attention_norm_D), param(p.attention_norm_bias_D), attention_in(),
                      statistic(saved.attention_mean_M), statistic(saved.attention_rstd_M));
}

template <class R> void DecoderCall<R>::attention() const {
  kernels::linear(attention_in(), param(p.qkv_QKVxD), param(p.qkv_bias), qkv());
  if constexpr (model.qk_norm) {
    model::normalize<R>(qkv().columns(0, Q), param(p.q_norm_H), param(p.q_norm_bias_H), qk().columns(0, Q),
                        statistic(saved.q_mean), statistic(saved.q_rstd));
    model::normalize<R>(qkv().columns(Q, K), param(p.k_norm_H), param(p.k_norm_bias_H), qk().columns(Q, K),
                        statistic(saved.k_mean), statistic(saved.k_rstd));
  }
  if constexpr (rotates) kernels::rotary(qk(), t.rotary_cos_TH, t.rotary_sin_TH, t.tokens, 0, false, t.document_starts);
  if constexpr (model.attention_kernel == AttentionKernel::tiled)
    kernels::tiled_attention(qk().columns(0, Q), qk().columns(Q, K), v(), attention_out(), lse_BNT(), attention_shape(),
                             Block::mask, t.document_starts);
  else
    kernels::reference_attention(qk().columns(0, Q), qk().columns(Q, K), v(), attention_out(), lse_BNT(),
                                 attention_shape(), Block::mask, dropout_key(attention_site, model.dropout.attention),
                                 t.document_starts);
}

template <class R> void DecoderCall<R>::attention_residual() const {
  if constexpr (drops) {
    kernels::linear(attention_out(), param(p.out_DxQ), param(p.out_bias_D), middle());
    kernels::dropout_add(middle(), t.x_MD, middle(), dropout_key(attention_out_site, model.dropout.residual));
  } else {
    kernels::linear_add(attention_out(), param(p.out_DxQ), param(p.out_bias_D), t.x_MD, middle());
  }
}

template <class R> void DecoderCall<R>::mlp_input() const {
  model::normalize<R>(middle(), param(p.mlp_norm_D), param(p.mlp_norm_bias_D), mlp_in(), statistic(saved.mlp_mean_M),
                      statistic(saved.mlp_rstd_M));
}

template <class R> void DecoderCall<R>::mlp_hidden() const {
  kernels::linear(mlp_in(), param(p.up_GxD), param(p.up_bias_G), up());
}

template <class R> void DecoderCall<R>::mlp_residual() const {
  if constexpr (drops) {
    kernels::linear(activated(), param(p.down_DxF), param(p.down_bias_D), t.y_MD);
    kernels::dropout_add(t.y_MD, middle(), t.y_MD, dropout_key(mlp_out_site, model.dropout.residual));
  } else {
    kernels::linear_add(activated(), param(p.down_DxF), param(p.down_bias_D), middle(), t.y_MD);
  }
}

/// The gradient of what was added to the residual stream: dx itself, or dx through the mask.
template <class R> View DecoderCall<R>::residual_gradient(Site site) const {
  if constexpr (!drops) return t.dx_MD;
  Layout layout{t.temporary_offset};
  const View dropped = activation(typename Block::Temporary(layout, t.batch * t.tokens).dropped_MD);
  kernels::dropout(t.dx_MD, dropped, dropout_key(site, model.dropout.residual));
  return dropped;
}

/// d(activated) takes the place of `activated`, d(mlp_in) that of `mlp_in`.
template <class R> void DecoderCall<R>::mlp_backward() const {
  const View dy = residual_gradient(mlp_out_site);
  kernels::linear_backward_weight(dy, activated(), gradient(p.down_DxF), gradient(p.down_bias_D), t.accumulate);
  kernels::linear_backward_input(dy, param(p.down_DxF), activated());
  const View dup = model::activate_backward<model.activation>(up(), activated());
  kernels::linear_backward_weight(dup, mlp_in(), gradient(p.up_GxD), gradient(p.up_bias_G), t.accumulate);
  kernels::linear_backward_input(dup, param(p.up_GxD), mlp_in());
  model::normalize_backward<R>(mlp_in(), middle(), param(p.mlp_norm_D), statistic(saved.mlp_mean_M),
                               statistic(saved.mlp_rstd_M), t.dx_MD, true, gradient(p.mlp_norm_D),
                               gradient(p.mlp_norm_bias_D), t.accumulate);
}

/// d(attention_in) takes the place of `attention_in`.
template <class R> void DecoderCall<R>::attention_backward() const {
  Layout layout{t.temporary_offset};
  const typename Block::Temporary temporary(layout, t.batch * t.tokens);
  const View dattention = activation(temporary.dattention_MQ), dqkv = activation(temporary.dqkv_M);
  const View dy = residual_gradient(attention_out_site);
  kernels::linear_backward_weight(dy, attention_out(), gradient(p.out_DxQ), gradient(p.out_bias_D), t.accumulate);
  kernels::linear_backward_input(dy, param(p.out_DxQ), dattention);
  const View dq = dqkv.columns(0, Q), dk = dqkv.columns(Q, K), dv = dqkv.columns(Q + K, K);
  if constexpr (model.attention_kernel == AttentionKernel::tiled)
    kernels::tiled_attention_backward(qk().columns(0, Q), qk().columns(Q, K), v(), attention_out(), lse_BNT(),
                                      dattention, dq, dk, dv, attention_shape(), Block::mask, t.document_starts);
  else
    kernels::reference_attention_backward(qk().columns(0, Q), qk().columns(Q, K), v(), attention_out(), lse_BNT(),
                                          dattention, dq, dk, dv, attention_shape(), Block::mask,
                                          dropout_key(attention_site, model.dropout.attention), t.document_starts);
  if constexpr (rotates)
    kernels::rotary(dqkv.columns(0, Q + K), t.rotary_cos_TH, t.rotary_sin_TH, t.tokens, 0, true, t.document_starts);
  if constexpr (model.qk_norm) qk_norm_backward(dqkv);
  kernels::linear_backward_weight(dqkv, attention_in(), gradient(p.qkv_QKVxD), gradient(p.qkv_bias), t.accumulate);
  kernels::linear_backward_input(dqkv, param(p.qkv_QKVxD), attention_in());
  model::normalize_backward<R>(attention_in(), t.x_MD, param(p.attention_norm_D), statistic(saved.attention_mean_M),
                               statistic(saved.attention_rstd_M), t.dx_MD, true, gradient(p.attention_norm_D),
                               gradient(p.attention_norm_bias_D), t.accumulate);
}

template <class R> void DecoderCall<R>::qk_norm_backward(View dqkv) const {
  const View dq = dqkv.columns(0, Q), dk = dqkv.columns(Q, K);
  model::normalize_backward<R>(dq, qkv().columns(0, Q), param(p.q_norm_H), statistic(saved.q_mean),
                               statistic(saved.q_rstd), dq, false, gradient(p.q_norm_H), gradient(p.q_norm_bias_H),
                               t.accumulate);
  model::normalize_backward<R>(dk, qkv().columns(Q, K), param(p.k_norm_H), statistic(saved.k_mean),
                               statistic(saved.k_rstd), dk, false, gradient(p.k_norm_H), gradient(p.k_norm_bias_H),
                               t.accumulate);
}

}  // namespace detail

template <class R> void DecoderBlock<R>::forward(const BlockTensors& t, const Saved& saved) {
  const detail::DecoderCall<R> call{t, saved};
  call.attention_input();
  call.attention();
  call.attention_residual();
  call.mlp_input();
  call.mlp_hidden();
  call.activate();
  call.mlp_residual();
}

template <class R> void DecoderBlock<R>::recompute(const BlockTensors& t, const Saved& saved) {
  const detail::DecoderCall<R> call{t, saved};
  switch (R::checkpointing::recompute(t.block)) {
    case Recompute::nothing:
      return;
    case Recompute::cheap:
      model::normalize_recompute<R>(t.x_MD, call.param(call.p.attention_norm_D),
                                    call.param(call.p.attention_norm_bias_D), call.statistic(saved.attention_mean_M),
                                    call.statistic(saved.attention_rstd_M), call.attention_in());
      model::normalize_recompute<R>(call.middle(), call.param(call.p.mlp_norm_D), call.param(call.p.mlp_norm_bias_D),
                                    call.statistic(saved.mlp_mean_M), call.statistic(saved.mlp_rstd_M), call.mlp_in());
      return call.activate();
    case Recompute::block:
      call.attention_input();
      call.attention();
      call.attention_residual();
      call.mlp_input();
      call.mlp_hidden();
      return call.activate();
  }
}

template <class R> void DecoderBlock<R>::backward(const BlockTensors& t, const Saved& saved) {
  const detail::DecoderCall<R> call{t, saved};
  call.mlp_backward();
  call.attention_backward();
}

template <class R> void DecoderBlock<R>::decode(const DecodeTensors& t) requires(!attention_of<R>::mask.looks_ahead()) {
  constexpr Params p;
  constexpr std::int64_t H = model.head_width();
  Layout scratch_layout, statistics_layout;
  const auto take = [&](Shape shape) { return t.scratch[scratch_layout.take(shape)]; };
  const auto statistic = [&] { return t.statistics[statistics_layout.take({1, t.batch * model.n_heads})]; };
  const View normed = take({t.batch, D}), qkv = take({t.batch, QKV}), attended = take({t.batch, Q}),
             up = take({t.batch, G}), activated = take({t.batch, F});
  const View mean = statistic(), rstd = statistic();
  const View q = qkv.columns(0, Q), k = qkv.columns(Q, K), v = qkv.columns(Q + K, K);

  model::normalize<R>(t.x_BD, t.params[p.attention_norm_D], t.params[p.attention_norm_bias_D], normed, mean, rstd);
  kernels::linear(normed, t.params[p.qkv_QKVxD], t.params[p.qkv_bias], qkv);
  if constexpr (model.qk_norm) {
    model::normalize<R>(q, t.params[p.q_norm_H], t.params[p.q_norm_bias_H], q, mean, rstd);
    model::normalize<R>(k, t.params[p.k_norm_H], t.params[p.k_norm_bias_H], k, mean, rstd);
  }
  if constexpr (model.position == Position::rotary)
    kernels::rotary(qkv.columns(0, Q + K), t.rotary_cos_TH, t.rotary_sin_TH, 1, t.position, false);
  const auto newest = [&](View cache) {  // row `position` of each sequence
    return View{cache.rows(t.position, 1).data, cache.dtype, {t.batch, K}, t.capacity * K};
  };
  kernels::copy(k, newest(t.k_cache));
  kernels::copy(v, newest(t.v_cache));
  const double scale = 1 / initializers::square_root(static_cast<double>(H));
  kernels::decode_attention(q, t.k_cache, t.v_cache, attended, t.capacity,
                            {t.batch, t.position + 1, model.n_heads, model.kv_heads(), H, scale}, mask);
  kernels::linear_add(attended, t.params[p.out_DxQ], t.params[p.out_bias_D], t.x_BD, t.x_BD);
  model::normalize<R>(t.x_BD, t.params[p.mlp_norm_D], t.params[p.mlp_norm_bias_D], normed, mean, rstd);
  kernels::linear(normed, t.params[p.up_GxD], t.params[p.up_bias_G], up);
  model::activate<model.activation>(up, activated);
  kernels::linear_add(activated, t.params[p.down_DxF], t.params[p.down_bias_D], t.x_BD, t.x_BD);
}

}  // namespace monomorph
