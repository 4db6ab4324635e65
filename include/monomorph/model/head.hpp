#pragma once
#include <algorithm>
#include <monomorph/block/embedding_unit.hpp>
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

/// The loss of x_MD. With `t.training` also dx_MD and the head's gradients; else t.gradients is not touched.
template <class R>
LossSum head(const BlockTensors& t, const plan::Activations<R>& plan, const std::int32_t* targets_M,
             const typename objective_of<R>::Hparams& hparams) {
  constexpr HeadParams<R> p;
  const View in_MD = t.activations[plan.head_in_MD], weight_VD = t.params[p.head_VD];
  const View mean = t.statistics[plan.head_mean_M], rstd = t.statistics[plan.head_rstd_M];
  normalize<R>(t.x_MD, t.params[p.norm_D], t.params[p.norm_bias_D], in_MD, mean, rstd);

  const std::int64_t chunk = plan.logits_CV.shape.rows;
  LossSum sum;
  for (std::int64_t first = 0; first < in_MD.shape.rows; first += chunk) {
    const std::int64_t n = std::min(chunk, in_MD.shape.rows - first);
    const View in_CD = in_MD.rows(first, n), logits_CV = t.statistics[plan.logits_CV].rows(0, n);
    View dlogits_CV;
    if (t.training) dlogits_CV = plan.dlogits_CV.present() ? t.activations[plan.dlogits_CV].rows(0, n) : logits_CV;
    kernels::linear(in_CD, weight_VD, {}, logits_CV);
    const TokenLogits logits{logits_CV,           targets_M + first,
                             R::model.vocab_size, t.statistics[plan.loss_C].columns(0, n),
                             dlogits_CV,          t.loss_scale};
    // An evaluation has the bare cross-entropy, so that perplexities can be compared.
    const LossSum loss =
        t.training ? objective_of<R>::loss(cpu::Queue{}, logits, hparams) : cpu::cross_entropy(cpu::Queue{}, logits);
    sum.loss += loss.loss;
    sum.tokens += loss.tokens;
    if (!t.training) continue;
    kernels::linear_backward_weight(dlogits_CV, in_CD, t.gradients[p.head_VD], {}, t.accumulate || first > 0);
    kernels::linear_backward_input(dlogits_CV, weight_VD, in_CD);  // overwrites the norm's output with its gradient
  }
  if (t.training)
    normalize_backward<R>(in_MD, t.x_MD, t.params[p.norm_D], mean, rstd, t.dx_MD, false, t.gradients[p.norm_D],
                          t.gradients[p.norm_bias_D], t.accumulate);
  return sum;
}

}  // namespace monomorph::model
