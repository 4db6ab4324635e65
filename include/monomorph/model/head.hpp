#pragma once
#include <monomorph/block/embedding_unit.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/plan/activations.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/linear.hpp>

/// Final norm, head and loss, in chunks of tokens: the logits of a whole micro-batch never exist.
namespace monomorph::model {

/// Where the head's parameters lie: in its own unit, or in the embedding's.
template <class R> struct HeadParams {
  Slice norm_D, norm_bias_D, head_VD;
  constexpr HeadParams() {
    if constexpr (R::model.tied_head) {
      constexpr typename EmbeddingUnit<R>::Params p;
      norm_D = p.norm_D, norm_bias_D = p.norm_bias_D, head_VD = p.table_VD;
    } else {
      constexpr typename HeadUnit<R>::Params p;
      norm_D = p.norm_D, norm_bias_D = p.norm_bias_D, head_VD = p.head_VD;
    }
  }
};

/// An evaluation has the bare cross-entropy, so that perplexities can be compared, and the objective's metrics.
template <class Objective>
void evaluated_loss(auto queue, TokenLogits logits, const typename Objective::Hparams& hparams, StepScalars* scalars) {
  cross_entropy(queue, logits);
  if constexpr (!metrics_of<Objective>.empty()) {
    logits.sum = &scalars->unused;
    Objective::loss(queue, logits, hparams);
    once(queue, [scalars] { scalars->micro_batch.metrics = scalars->unused.metrics; });
  }
}

/// Adds the loss of x_MD to that of the micro-batch. With `t.training` also dx_MD and the head's gradients; else
/// t.gradients is not touched.
template <class R>
void head(const TensorsOf<R>& t, const plan::Activations<R>& plan, const std::int32_t* targets_M,
          const typename objective_of<R>::Hparams& hparams) {
  constexpr HeadParams<R> p;
  const View in_MD = t.activations[plan.head_in_MD], weight_VD = t.params[p.head_VD];
  const View mean = t.statistics[plan.head_mean_M], rstd = t.statistics[plan.head_rstd_M];
  normalize<R>(t.queue, t.x_MD, t.params[p.norm_D], t.params[p.norm_bias_D], in_MD, mean, rstd);

  const std::int64_t chunk = plan.logits_CV.shape.rows;
  for (std::int64_t first = 0; first < in_MD.shape.rows; first += chunk) {
    const std::int64_t n = smaller_of(chunk, in_MD.shape.rows - first);
    const View in_CD = in_MD.rows(first, n), logits_CV = t.statistics[plan.logits_CV].rows(0, n);
    View dlogits_CV;
    if (t.training) dlogits_CV = plan.dlogits_CV.present() ? t.activations[plan.dlogits_CV].rows(0, n) : logits_CV;
    linear(t.queue, in_CD, weight_VD, {}, logits_CV);
    const TokenLogits logits{.logits_CV = logits_CV,
                             .targets_C = targets_M + first,
                             .vocab_size = R::model.vocab_size,
                             .loss_C = t.statistics[plan.loss_C].columns(0, n),
                             .dlogits_CV = dlogits_CV,
                             .scale = &t.scalars->loss_scale.value,
                             .sum = &t.scalars->micro_batch};
    if (!t.training) {
      evaluated_loss<objective_of<R>>(t.queue, logits, hparams, t.scalars);
      continue;
    }
    objective_of<R>::loss(t.queue, logits, hparams);
    linear_backward_weight(t.queue, dlogits_CV, in_CD, t.gradients[p.head_VD], {}, t.accumulate || first > 0);
    linear_backward_input(t.queue, dlogits_CV, weight_VD, in_CD);  // overwrites the norm's output with its gradient
  }
  if (t.training)
    normalize_backward<R>(t.queue, in_MD, t.x_MD, t.params[p.norm_D], mean, rstd, t.dx_MD, false, t.gradients[p.norm_D],
                          t.gradients[p.norm_bias_D], t.accumulate);
}

}  // namespace monomorph::model
