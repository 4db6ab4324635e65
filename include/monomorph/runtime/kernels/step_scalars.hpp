#pragma once
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <span>

/// What is done with the numbers of a step between its kernels, in the device's memory and in their turn. The host
/// waits for none of it.
namespace monomorph::cpu {

/// @param counters of the blocks: set to zero with the step's sums
void begin_step(Queue, StepScalars* scalars, std::span<std::int64_t> counters);
void begin_micro_batch(Queue, StepScalars* scalars);
/// Adds what the micro-batch has given to the step's sums.
void end_micro_batch(Queue, StepScalars* scalars);
/// The metrics that an evaluation has counted apart become the micro-batch's.
void keep_metrics(Queue, StepScalars* scalars);

/// What this rank has of a step, as words that ranks add up; and what all have, which becomes what this one has.
void write_step_words(Queue, StepScalars* scalars, const StepSettings& settings, const StepWords& to);
void read_step_words(Queue, StepScalars* scalars, const StepWords& from);

/// Decides what becomes of a step, by the sums of all ranks: the update's terms, the loss scale, the outcome.
void decide_step(Queue, StepScalars* scalars, const StepSettings& settings, bool has_auxiliary_loss);

}  // namespace monomorph::cpu
