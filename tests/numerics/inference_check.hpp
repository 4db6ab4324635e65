#pragma once
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/inference_model.hpp"
#include "support/one_sequence.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/step.hpp>

#include <algorithm>

namespace monomorph::testing {

/// Compares a model for inference with the step whose parameters it is given: bits of losses and of logits, and the
/// memory of the plan.
/// @return logits behind three tokens
template <Recipe R> Values check_inference(train::Step<R>& step, std::int64_t micro_batch, Transfers::Timing timing) {
  constexpr std::int64_t T = R::model.context_length;
  const auto communicator = one_rank();
  train::GeneratingStep<R> model(*communicator, micro_batch, 0, 0, {}, timing, plan::Purpose::inference);
  const plan::Memory planned =
      plan::memory_with<R>(with(plan::strategy_of<R>(1), plan::Purpose::inference), 1, micro_batch);
  CHECK(model.state().arena().bytes() == planned.arena());
  CHECK(model.state().arena().unused_bytes() == 0);
  CHECK(model.state().host_arena().bytes() == planned.host());
  CHECK(model.state().host_arena().unused_bytes() == 0);
  copy_parameters(step, model);
  for (const std::int64_t first : {0, 2})
    CHECK(model.evaluate(sequences.from(first, T)).loss == step.evaluate(sequences.from(first, T)).loss);
  OneSequence here(step, T), there(model, T);
  Values logits;
  for (const std::int32_t token : {5, 2, 7}) {
    const float *expected = here.feed(token), *actual = there.feed(token);
    CHECK(std::equal(actual, actual + R::model.vocab_size, expected));
    logits.assign(actual, actual + R::model.vocab_size);
  }
  CHECK(model.evaluate(sequences.from(1, T)).loss == step.evaluate(sequences.from(1, T)).loss);
  return logits;
}

}  // namespace monomorph::testing
