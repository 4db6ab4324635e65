#pragma once
#include <cstdint>
#include <monomorph/core/derived.hpp>

namespace monomorph {

/// What the embedding of a text is made of: the mean of its tokens, its first token or its last one.
enum class Pooling { mean, first, last };

/// How EmbeddingHead makes embeddings of the tokens of texts, whatever the kind of model.
struct EmbeddingSpec {
  Pooling pooling = Pooling::mean;
  Derived<std::int64_t> features{};  ///< a projection makes so many; the width of the model, without one, unless given
  bool unit_length = true;           ///< embeddings are divided by their length, so that products are cosines
};

}  // namespace monomorph
