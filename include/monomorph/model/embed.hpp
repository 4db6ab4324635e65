#pragma once
#include <monomorph/block/embedding_unit.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/runtime/kernels/embedding.hpp>

/// The bodies of EmbeddingUnit. In BlockTensors, `y_MD` is the beginning of the residual stream and `dx_MD` its
/// gradient.
namespace monomorph::model {

template <class R> DropoutKey embedding_dropout(const TensorsOf<R>& t) {
  DropoutKey key = t.dropout;
  key.rate = R::model.dropout.embedding;
  return key;  // layer 0, site 0
}

template <class R> void embed(const TensorsOf<R>& t, const std::int32_t* ids_M) {
  constexpr typename EmbeddingUnit<R>::Params p;
  embedding(t.queue, ids_M, t.params[p.table_VD], t.params[p.positions_TD], t.tokens, 0, t.y_MD, t.document_starts);
  if constexpr (R::model.dropout.embedding > 0)
    if (t.training) dropout(t.queue, t.y_MD, t.y_MD, embedding_dropout<R>(t));
}

/// A tied table already has the head's gradient, to which this adds.
template <class R> void embed_backward(const TensorsOf<R>& t, const std::int32_t* ids_M) {
  constexpr typename EmbeddingUnit<R>::Params p;
  if constexpr (R::model.dropout.embedding > 0) dropout(t.queue, t.dx_MD, t.dx_MD, embedding_dropout<R>(t));
  embedding_backward(t.queue, ids_M, t.dx_MD, t.gradients[p.table_VD], t.accumulate || R::model.tied_head);
  if constexpr (R::model.position == Position::learned)
    position_embedding_backward(t.queue, t.dx_MD, t.tokens, t.gradients[p.positions_TD], t.accumulate,
                                t.document_starts);
}

}  // namespace monomorph::model
