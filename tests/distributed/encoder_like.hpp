#pragma once
#include <monomorph/objective/contrastive_pairs.hpp>

#include "numerics/schedule_recipes.hpp"

namespace monomorph::testing {

/// An encoder of llama_like's sizes.
struct encoder_like : llama_like {
  static constexpr EncoderSpec model{
      .vocab_size = 50, .n_layers = 4, .n_heads = 4, .d_model = 32, .context_length = 24, .d_embedding = 8};
  using attention = attention::PerDocument<attention::Bidirectional>;
  using objective = objective::ContrastivePairs;
};

/// Two texts in each row: the target of a token is the number of its text.
inline Sequences pairs() {
  constexpr std::int64_t T = encoder_like::model.context_length;
  Sequences rows(4, T, 50);
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    const bool second = i % T >= T / 2;
    rows.targets[i] = second ? 1 : 0;
    rows.document_starts[i] = second ? T / 2 : 0;
  }
  return rows;
}

}  // namespace monomorph::testing
