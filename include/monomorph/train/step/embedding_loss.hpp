#pragma once
#include <monomorph/model/embedding_head.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/communicator.hpp>

namespace monomorph::train {

/// The embeddings that a rank makes in its micro-batch, among those of all ranks.
template <Recipe R>
View own_embeddings(const Communicator& communicator, const plan::Activations<R>& plan, View statistics) {
  const View all = statistics[plan.embeddings.all];
  const std::int64_t n = all.shape.rows / communicator.size();
  return all.rows(communicator.rank() * n, n);
}

/// Adds the loss of x_MD of an encoder to that of the micro-batch. In training the embeddings of all ranks are
/// compared, and dx_MD and the head's gradients are made; the gradients of other ranks' embeddings are for them to
/// make, so nothing is reduced. An evaluation compares those of this rank's micro-batch alone, so that its bits do not
/// depend on the number of ranks.
template <Recipe R>
void embedding_loss(Communicator& communicator, const TensorsOf<R>& t, const plan::Activations<R>& plan,
                    const std::int32_t* text_of_M, const typename objective_of<R>::Hparams& hparams) {
  constexpr std::int64_t texts = objective_of<R>::texts_per_sample;
  const View own = own_embeddings<R>(communicator, plan, t.statistics);
  model::embed_texts<R>(t, plan, text_of_M, own);
  TextEmbeddings embeddings{.all = own,
                            .texts = texts,
                            .first = 0,
                            .n = t.batch,
                            .gradient_RE = {},
                            .workspace = t.statistics[plan.embeddings.workspace],
                            .scale = &t.scalars->loss_scale.value,
                            .sum = &t.scalars->micro_batch};
  if (!t.training) return objective_of<R>::loss(t.queue, embeddings, hparams);
  embeddings.all = t.statistics[plan.embeddings.all];
  embeddings.first = communicator.rank() * t.batch;
  embeddings.gradient_RE = t.statistics[plan.embeddings.gradient_RE];
  synchronize(t.queue);
  communicator.gather_batch(embeddings.all);
  objective_of<R>::loss(t.queue, embeddings, hparams);
  model::embed_texts_backward<R>(t, plan, text_of_M);
}

}  // namespace monomorph::train
