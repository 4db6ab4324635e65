#pragma once
#include <monomorph/block/embedding_head.hpp>
#include <monomorph/block/model_kinds.hpp>

#include "transformed_decoder.hpp"

namespace stranger {

/// An encoder with that dense layer between its last block and its head, which makes a projection of each text's first
/// token: a kind of model that makes embeddings.
struct TransformedEncoder {
  monomorph::DecoderSpec trunk{};
  monomorph::Defaulted<bool> transform_bias = true;
  monomorph::Required<std::int64_t> features{};  ///< of an embedding

  friend constexpr bool operator==(const TransformedEncoder&, const TransformedEncoder&) = default;
};

}  // namespace stranger

MONOMORPH_SPEC(stranger::TransformedEncoder, trunk, transform_bias, features);

template <> struct monomorph::ModelKind<stranger::TransformedEncoder> {
  static constexpr ModelOutput output = ModelOutput::embeddings;
  static constexpr DecoderSpec trunk(const stranger::TransformedEncoder& model) {
    DecoderSpec trunk = model.trunk;
    trunk.tied_head = false;  // there is no head over the vocabulary
    return trunk;
  }
  static constexpr EmbeddingSpec embedding(const stranger::TransformedEncoder& model) {
    return {.pooling = Pooling::first, .features = model.features.value};
  }
  template <class Blocks>
  using layers = Joined<Stack<Run<TokenEmbedding, 1>>, Blocks,
                        Stack<Run<stranger::PredictionTransform, 1>, Run<EmbeddingHead, 1>>>;
};
