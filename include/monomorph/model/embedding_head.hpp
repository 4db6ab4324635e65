#pragma once
#include <monomorph/block/embedding_head.hpp>
#include <monomorph/model/layer_tensors.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/runtime/comm/queued_communicator.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>

/// The bodies of EmbeddingHead. `targets_M` has by token the number of its text, or ignored_target.
namespace monomorph {

/// The embeddings that a rank makes of its micro-batch, among those of all ranks.
template <class Queue> View own_embeddings(const QueuedCommunicator<Queue>& ranks, View all_RE1) {
  const std::int64_t n = all_RE1.shape.rows / ranks.size();
  return all_RE1.rows(ranks.rank() * n, n);
}

template <class R>
template <class Queue>
View EmbeddingHead<R>::embeddings(const Saved& saved, const View& all_statistics,
                                  const QueuedCommunicator<Queue>& ranks) {
  return own_embeddings(ranks, all_statistics[saved.all]).columns(0, E);
}

namespace detail {

template <class R> struct EmbeddingPass {
  using Head = EmbeddingHead<R>;
  static constexpr typename Head::Params p{};
  const LayerTensors<R>& t;
  const typename Head::Saved& saved;
  View in_MD = t.activations[saved.in_MD], raw_RE = t.statistics[saved.raw_RE];
  TextPooling pooling{.kind = Head::embedding.pooling, .tokens = t.tokens, .texts = objective_of<R>::texts_per_sample};

  /// Embeddings of x_MD. Behind the features of each stands whether there is such a text.
  void embed(View embeddings_RE1) const {
    model::normalize<R>(t, p.final_norm, saved.norm, t.x_MD, in_MD);
    const View present_R1 = embeddings_RE1.columns(Head::E, 1), out_RE = embeddings_RE1.columns(0, Head::E);
    if constexpr (Head::projects) {
      const View pooled_RD = t.activations[saved.pooled_RD];
      pool_texts(t.queue, in_MD, t.targets_M, pooling, pooled_RD, present_R1);
      linear(t.queue, pooled_RD, t.params[p.projection_ExD], {}, raw_RE);
    } else {
      pool_texts(t.queue, in_MD, t.targets_M, pooling, raw_RE, present_R1);
    }
    if constexpr (Head::embedding.unit_length)
      unit_length(t.queue, raw_RE, out_RE);
    else
      copy(t.queue, raw_RE, out_RE);
  }

  /// dx_MD and the head's gradients, of the gradient of the embeddings.
  void backward() const {
    View draw_RE = t.statistics[saved.gradient_RE];
    if constexpr (Head::embedding.unit_length) {
      unit_length_backward(t.queue, draw_RE, raw_RE);
      draw_RE = raw_RE;
    }
    pool_texts_backward(t.queue, project_backward(draw_RE), t.targets_M, pooling, in_MD);  // over the norm's output
    model::normalize_backward<R>(t, p.final_norm, saved.norm, in_MD, t.x_MD, t.dx_MD, false);
  }

  /// The gradient of what was pooled.
  View project_backward(View draw_RE) const {
    if constexpr (Head::projects) {
      const View pooled_RD = t.activations[saved.pooled_RD];
      if (saved.dprojected_RE.present()) {
        const View narrow_RE = t.activations[saved.dprojected_RE];
        copy(t.queue, draw_RE, narrow_RE);
        draw_RE = narrow_RE;
      }
      linear_backward_weight(t.queue, draw_RE, pooled_RD, t.gradients[p.projection_ExD], {}, t.accumulate);
      linear_backward_input(t.queue, draw_RE, t.params[p.projection_ExD], pooled_RD);
      return pooled_RD;
    } else {
      return draw_RE;
    }
  }

  /// To be compared: those of this rank alone, without gradient.
  TextEmbeddings compared(View own) const {
    return {.all = own,
            .texts = objective_of<R>::texts_per_sample,
            .first = 0,
            .n = t.batch,
            .gradient_RE = {},
            .workspace = t.statistics[saved.workspace],
            .scale = &t.scalars->loss_scale.value,
            .sum = &t.scalars->micro_batch};
  }
};

}  // namespace detail

template <class R> void EmbeddingHead<R>::forward(const LayerTensors<R>& t, const Saved& saved) {
  const detail::EmbeddingPass<R> pass{t, saved};
  const View own = own_embeddings(*t.data_parallel, t.statistics[saved.all]);
  pass.embed(own);
  Objective::loss(t.queue, pass.compared(own), *t.objective);
}

template <class R> void EmbeddingHead<R>::backward(const LayerTensors<R>& t, const Saved& saved) {
  const detail::EmbeddingPass<R> pass{t, saved};
  const View all = t.statistics[saved.all], own = own_embeddings(*t.data_parallel, all);
  pass.embed(own);
  t.data_parallel->gather_batch(all);
  TextEmbeddings embeddings = pass.compared(all);
  embeddings.first = t.data_parallel->rank() * t.batch;
  embeddings.gradient_RE = t.statistics[saved.gradient_RE];
  Objective::loss(t.queue, embeddings, *t.objective);
  pass.backward();
}

}  // namespace monomorph
