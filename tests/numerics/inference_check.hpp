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

/// The step of a recipe in a test that has it generate, or that has not: decoders take an eighth of its compilation.
template <class R, bool generates>
using StepThat = std::conditional_t<generates, train::GeneratingStep<R>, train::Step<R>>;

/// Compares a model for inference with the step whose parameters it is given: bits of losses and, where the two
/// generate, of logits, and the memory of the plan.
/// @return logits behind three tokens; of steps that do not generate none
template <Recipe R, bool generates>
Values check_inference(StepThat<R, generates>& step, std::int64_t micro_batch, Transfers::Timing timing) {
  constexpr std::int64_t T = R::model.context_length;
  const auto communicator = one_rank();
  StepThat<R, generates> model(*communicator, micro_batch, 0, 0, {}, timing, plan::Purpose::inference);
  const plan::Memory planned =
      plan::memory_with<R>(with(plan::strategy_of<R>(1), plan::Purpose::inference), 1, micro_batch);
  CHECK(model.state().arena().bytes() == planned.arena());
  CHECK(model.state().arena().unused_bytes() == 0);
  CHECK(model.state().host_arena().bytes() == planned.host());
  CHECK(model.state().host_arena().unused_bytes() == 0);
  copy_parameters(step, model);
  for (const std::int64_t first : {0, 2})
    CHECK(model.evaluate(sequences.from(first, T)).loss == step.evaluate(sequences.from(first, T)).loss);
  Values logits;
  if constexpr (generates) {
    OneSequence here(step, T), there(model, T);
    for (const std::int32_t token : {5, 2, 7}) {
      const float *expected = here.feed(token), *actual = there.feed(token);
      CHECK(std::equal(actual, actual + R::model.vocab_size, expected));
      logits.assign(actual, actual + R::model.vocab_size);
    }
  }
  CHECK(model.evaluate(sequences.from(1, T)).loss == step.evaluate(sequences.from(1, T)).loss);
  return logits;
}

}  // namespace monomorph::testing
