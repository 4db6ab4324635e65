#pragma once
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"

namespace monomorph::testing {

/// One optimiser step on a few sequences.
inline void take_step(train::TrainingStep& step, std::int64_t micro_batches,
                      const PolicyHparams& hparams = adamw_hparams(), const Sequences& rows = sequences) {
  constexpr std::int64_t T = gpt2_like::model.context_length;
  for (std::int64_t i = 0; i < micro_batches; ++i) accumulate(step, rows.from(i % 4, T), 1, {i, micro_batches});
  gradient_norm(step);
  update(step, 1, 1, hparams);
}

}  // namespace monomorph::testing
