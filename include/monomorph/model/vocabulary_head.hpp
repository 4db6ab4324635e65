#pragma once
#include <monomorph/block/vocabulary_head.hpp>
#include <monomorph/model/decode_tensors.hpp>
#include <monomorph/model/layer_tensors.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/step_scalars.hpp>

/// The bodies of VocabularyHead.
namespace monomorph {

namespace detail {

/// An evaluation has the bare cross-entropy, so that perplexities can be compared, and the objective's metrics.
template <class Objective>
void evaluated_loss(auto queue, TokenLogits logits, const typename Objective::Hparams& hparams, StepScalars* scalars) {
  cross_entropy(queue, logits);
  if constexpr (!metrics_of<Objective>.empty()) {
    logits.sum = &scalars->unused;
    Objective::loss(queue, logits, hparams);
    keep_metrics(queue, scalars);
  }
}

/// Calls f(logits of a chunk of tokens, its first token) for one chunk after the other of what the norm has made.
template <class R>
void for_each_chunk(const LayerTensors<R>& t, const typename VocabularyHead<R>::Saved& saved, View weight_VD,
                    auto&& f) {
  const View in_MD = t.activations[saved.in_MD];
  const std::int64_t chunk = saved.logits_CV.shape.rows;
  for (std::int64_t first = 0; first < in_MD.shape.rows; first += chunk) {
    const std::int64_t n = smaller_of(chunk, in_MD.shape.rows - first);
    const View logits_CV = t.statistics[saved.logits_CV].rows(0, n);
    View dlogits_CV;
    if (t.training) dlogits_CV = saved.dlogits_CV.present() ? t.activations[saved.dlogits_CV].rows(0, n) : logits_CV;
    linear(t.queue, in_MD.rows(first, n), weight_VD, {}, logits_CV);
    f(TokenLogits{.logits_CV = logits_CV,
                  .targets_C = t.targets_M + first,
                  .vocab_size = trunk_of<R>.vocab_size,
                  .loss_C = t.statistics[saved.loss_C].columns(0, n),
                  .dlogits_CV = dlogits_CV,
                  .scale = &t.scalars->loss_scale.value,
                  .sum = &t.scalars->micro_batch},
      first);
  }
}

}  // namespace detail

template <class R> void VocabularyHead<R>::forward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  model::normalize<R>(t, p.final_norm, saved.norm, t.x_MD, t.activations[saved.in_MD]);
  detail::for_each_chunk<R>(t, saved, t.params[weight_VD(p)], [&](const TokenLogits& logits, std::int64_t) {
    detail::evaluated_loss<objective_of<R>>(t.queue, logits, *t.objective, t.scalars);
  });
}

template <class R> void VocabularyHead<R>::backward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  const View in_MD = t.activations[saved.in_MD], weight = t.params[weight_VD(p)];
  model::normalize<R>(t, p.final_norm, saved.norm, t.x_MD, in_MD);
  detail::for_each_chunk<R>(t, saved, weight, [&](const TokenLogits& logits, std::int64_t first) {
    objective_of<R>::loss(t.queue, logits, *t.objective);
    const View in_CD = in_MD.rows(first, logits.dlogits_CV.shape.rows);
    linear_backward_weight(t.queue, logits.dlogits_CV, in_CD, t.gradients[weight_VD(p)], {}, t.accumulate || first > 0);
    linear_backward_input(t.queue, logits.dlogits_CV, weight, in_CD);  // overwrites the norm's output
  });
  model::normalize_backward<R>(t, p.final_norm, saved.norm, in_MD, t.x_MD, t.dx_MD, false);
}

template <class R> void VocabularyHead<R>::decode(const DecodeTensorsOf<R>& t) {
  static constexpr Params p;
  Layout activations, statistics;
  const DecodeTemporary temporary(activations, statistics, t.batch);
  const View normed_BD = t.activations[temporary.normed_BD];
  model::normalize<R>(t, p.final_norm, temporary.norm, t.x_BD, normed_BD);
  linear(t.queue, normed_BD, t.params[weight_VD(p)], {}, t.logits_BV);
}

}  // namespace monomorph
