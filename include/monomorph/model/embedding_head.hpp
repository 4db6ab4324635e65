#pragma once
#include <monomorph/block/embedding_unit.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/plan/activations.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>

/// The head of an encoder: final norm, pooling, projection, length 1.
namespace monomorph::model {

template <class R> TextPooling text_pooling(const TensorsOf<R>& t) {
  return {.kind = R::model.pooling, .tokens = t.tokens, .texts = objective_of<R>::texts_per_sample};
}

/// Embeddings of x_MD. Behind the features of each stands whether there is such a text.
/// @param text_of_M by token the number of its text, or ignored_target
template <class R>
void embed_texts(const TensorsOf<R>& t, const plan::Activations<R>& plan, const std::int32_t* text_of_M,
                 View embeddings_RE1) {
  constexpr typename HeadUnit<R>::Params p;
  constexpr std::int64_t E = R::model.embedding_width();
  const View in_MD = t.activations[plan.head_in_MD], raw_RE = t.statistics[plan.embeddings.raw_RE];
  normalize<R>(t.queue, t.x_MD, t.params[p.norm_D], t.params[p.norm_bias_D], in_MD, t.statistics[plan.head_mean_M],
               t.statistics[plan.head_rstd_M]);
  const View present_R1 = embeddings_RE1.columns(E, 1), out_RE = embeddings_RE1.columns(0, E);
  if constexpr (R::model.d_embedding.given) {
    const View pooled_RD = t.activations[plan.embeddings.pooled_RD];
    pool_texts(t.queue, in_MD, text_of_M, text_pooling<R>(t), pooled_RD, present_R1);
    linear(t.queue, pooled_RD, t.params[p.projection_ExD], {}, raw_RE);
  } else {
    pool_texts(t.queue, in_MD, text_of_M, text_pooling<R>(t), raw_RE, present_R1);
  }
  if constexpr (R::model.unit_length)
    unit_length(t.queue, raw_RE, out_RE);
  else
    copy(t.queue, raw_RE, out_RE);
}

/// dx_MD and the head's gradients, of the gradient of the embeddings.
template <class R>
void embed_texts_backward(const TensorsOf<R>& t, const plan::Activations<R>& plan, const std::int32_t* text_of_M) {
  constexpr typename HeadUnit<R>::Params p;
  const View in_MD = t.activations[plan.head_in_MD], gradient_RE = t.statistics[plan.embeddings.gradient_RE];
  View draw_RE = gradient_RE;
  if constexpr (R::model.unit_length) {
    draw_RE = t.statistics[plan.embeddings.raw_RE];
    unit_length_backward(t.queue, gradient_RE, draw_RE);
  }
  View dpooled_RD = draw_RE;
  if constexpr (R::model.d_embedding.given) {
    dpooled_RD = t.activations[plan.embeddings.pooled_RD];
    if (plan.embeddings.dprojected_RE.present()) {
      const View narrow_RE = t.activations[plan.embeddings.dprojected_RE];
      copy(t.queue, draw_RE, narrow_RE);
      draw_RE = narrow_RE;
    }
    linear_backward_weight(t.queue, draw_RE, dpooled_RD, t.gradients[p.projection_ExD], {}, t.accumulate);
    linear_backward_input(t.queue, draw_RE, t.params[p.projection_ExD], dpooled_RD);
  }
  pool_texts_backward(t.queue, dpooled_RD, text_of_M, text_pooling<R>(t), in_MD);  // over the norm's output
  normalize_backward<R>(t.queue, in_MD, t.x_MD, t.params[p.norm_D], t.statistics[plan.head_mean_M],
                        t.statistics[plan.head_rstd_M], t.dx_MD, false, t.gradients[p.norm_D],
                        t.gradients[p.norm_bias_D], t.accumulate);
}

}  // namespace monomorph::model
