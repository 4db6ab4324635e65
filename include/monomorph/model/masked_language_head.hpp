#pragma once
#include <monomorph/block/masked_language_head.hpp>
#include <monomorph/model/token_embedding.hpp>
#include <monomorph/model/vocabulary_head.hpp>
#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

/// The bodies of the layers of MaskedLanguageSpec.
namespace monomorph {

template <class R> void MaskedLanguageTransform<R>::forward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  const View normed_MD = t.activations[saved.normed_MD], h_MD = t.activations[saved.h_MD];
  model::normalize<R>(t, p.norm, saved.norm, t.x_MD, normed_MD);
  linear(t.queue, normed_MD, t.params[p.weight_DxD], t.params[p.bias_D], h_MD);
  activate<activation>(t.queue, h_MD, t.y_MD);
}

template <class R> void MaskedLanguageTransform<R>::backward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  const View normed_MD = t.activations[saved.normed_MD],
             dh_MD = activate_backward<activation>(t.queue, t.activations[saved.h_MD], t.dx_MD);
  linear_backward_weight(t.queue, dh_MD, normed_MD, t.gradients[p.weight_DxD], t.gradients[p.bias_D], t.accumulate);
  linear_backward_input(t.queue, dh_MD, t.params[p.weight_DxD], normed_MD);
  model::normalize_backward<R>(t, p.norm, saved.norm, normed_MD, t.x_MD, t.dx_MD, false);
}

template <class R> void MaskedLanguageTransform<R>::decode(const DecodeTensorsOf<R>& t) {
  static constexpr Params p;
  Layout activations, statistics;
  const DecodeTemporary temporary(activations, statistics, t.batch);
  const View normed_BD = t.activations[temporary.normed_BD], h_BD = t.activations[temporary.h_BD];
  model::normalize<R>(t, p.norm, temporary.norm, t.x_BD, normed_BD);
  linear(t.queue, normed_BD, t.params[p.weight_DxD], t.params[p.bias_D], h_BD);
  activate<activation>(t.queue, h_BD, t.x_BD);
}

namespace detail {

/// The bias of logits, in their dtype.   @param wider where it goes if that is not the parameters'
template <class R> View logit_bias(const auto& t, const View& wider) {
  static constexpr typename MaskedLanguageHead<R>::Params p;
  const View bias_V = t.params[p.logit_bias_V];
  if (!wider.present()) return bias_V;
  copy(t.queue, bias_V, wider);
  return wider;
}

template <class R>
LossChunks<R> biased_chunks(const LayerTensors<R>& t, const typename MaskedLanguageHead<R>::Saved& saved) {
  static constexpr typename MaskedLanguageHead<R>::Params p;
  return {t, saved, t.params[p.table_VD], logit_bias<R>(t, t.statistics[saved.bias_V])};
}

}  // namespace detail

template <class R> void MaskedLanguageHead<R>::forward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  model::normalize<R>(t, p.final_norm, saved.norm, t.x_MD, t.activations[saved.in_MD]);
  const detail::LossChunks<R> chunks = detail::biased_chunks<R>(t, saved);
  chunks.each([&](const TokenLogits& logits, std::int64_t first) { detail::evaluated_loss(chunks, logits, first); });
}

template <class R> void MaskedLanguageHead<R>::backward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  const View in_MD = t.activations[saved.in_MD], weight_VD = t.params[p.table_VD];
  model::normalize<R>(t, p.final_norm, saved.norm, t.x_MD, in_MD);
  detail::each_gradient(detail::biased_chunks<R>(t, saved), [&](const TokenLogits& logits, std::int64_t first) {
    const View in_CD = in_MD.rows(first, logits.dlogits_CV.shape.rows);
    linear_backward_weight(t.queue, logits.dlogits_CV, in_CD, t.gradients[p.table_VD], t.gradients[p.logit_bias_V],
                           t.accumulate || first > 0);
    linear_backward_input(t.queue, logits.dlogits_CV, weight_VD, in_CD);  // overwrites the norm's output
  });
  model::normalize_backward<R>(t, p.final_norm, saved.norm, in_MD, t.x_MD, t.dx_MD, false);
}

template <class R> void MaskedLanguageHead<R>::decode(const DecodeTensorsOf<R>& t) {
  static constexpr Params p;
  Layout activations, statistics;
  const DecodeTemporary temporary(activations, statistics, t.batch);
  const View normed_BD = t.activations[temporary.normed_BD];
  model::normalize<R>(t, p.final_norm, temporary.norm, t.x_BD, normed_BD);
  linear(t.queue, normed_BD, t.params[p.table_VD], detail::logit_bias<R>(t, t.statistics[temporary.bias_V]),
         t.logits_BV);
  detail::cap_logits(t.queue, t.logits_BV, trunk_of<R>.soft_cap.logits);
}

}  // namespace monomorph
