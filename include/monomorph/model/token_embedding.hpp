#pragma once
#include <monomorph/block/token_embedding.hpp>
#include <monomorph/model/decode_tensors.hpp>
#include <monomorph/model/layer_tensors.hpp>
#include <monomorph/runtime/kernels/embedding.hpp>

/// The bodies of TokenEmbedding: `y_MD` is the beginning of the residual stream and `dx_MD` its gradient.
namespace monomorph {

namespace detail {
template <class R> DropoutKey embedding_dropout(const TensorsOf<R>& t) {
  DropoutKey key = t.dropout;
  key.rate = trunk_of<R>.dropout.embedding;
  return key;  // layer 0, site 0
}
}  // namespace detail

template <class R> void TokenEmbedding<R>::forward(const LayerTensors<R>& t, const Saved&) {
  static constexpr Params p;
  embedding(t.queue, t.inputs_M, t.params[p.table_VD], t.params[p.positions_TD], t.tokens, 0, t.y_MD, t.document_starts,
            model.multiplier.embedding);
  if constexpr (trunk_of<R>.dropout.embedding > 0)
    if (t.training) dropout(t.queue, t.y_MD, t.y_MD, detail::embedding_dropout<R>(t));
}

template <class R> void TokenEmbedding<R>::backward(const LayerTensors<R>& t, const Saved&) {
  static constexpr Params p;
  if constexpr (trunk_of<R>.dropout.embedding > 0) dropout(t.queue, t.dx_MD, t.dx_MD, detail::embedding_dropout<R>(t));
  if (const View dtable = t.gradients[p.table_VD]; dtable.present())  // one of the two may be frozen alone
    embedding_backward(t.queue, t.inputs_M, t.dx_MD, dtable, t.accumulate || trunk_of<R>.tied_head,
                       model.multiplier.embedding);
  if constexpr (trunk_of<R>.position == Position::learned)
    if (const View dpositions = t.gradients[p.positions_TD]; dpositions.present())
      position_embedding_backward(t.queue, t.dx_MD, t.tokens, dpositions, t.accumulate, t.document_starts);
}

template <class R> void TokenEmbedding<R>::decode(const DecodeTensorsOf<R>& t) {
  static constexpr Params p;
  embedding(t.queue, t.ids_B, t.params[p.table_VD], t.params[p.positions_TD], t.batch, 0, t.x_BD, t.tokens.origins_B,
            model.multiplier.embedding);
}

}  // namespace monomorph
