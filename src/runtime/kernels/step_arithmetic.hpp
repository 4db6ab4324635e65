#pragma once
#include <monomorph/core/extremes.hpp>
#include <monomorph/core/step_scalars.hpp>

#include <cmath>

#include "runtime/kernels/host_device.hpp"

/// What is done with the numbers of a step between its kernels, for every device (runtime/kernels/step_scalars.hpp).
namespace monomorph {
namespace {

MONOMORPH_HOST_DEVICE inline void start_step(StepScalars& scalars, std::int64_t* counters, std::int64_t n_counters) {
  scalars.loss = scalars.auxiliary_loss = {};
  scalars.tokens = 0;
  scalars.metrics = {};
  scalars.gradient_norm = {};
  scalars.others_stop = scalars.others_save = false;
  for (std::int64_t i = 0; i < n_counters; ++i) counters[i] = 0;
}

MONOMORPH_HOST_DEVICE inline void start_micro_batch(StepScalars& scalars) {
  scalars.micro_batch = scalars.unused = {};
  scalars.auxiliary = 0;
}

MONOMORPH_HOST_DEVICE inline void add_micro_batch(StepScalars& scalars) {
  const LossSum& of_batch = scalars.micro_batch;
  scalars.loss.add(of_batch.loss);
  scalars.tokens += of_batch.tokens;
  for (int i = 0; i < most_objective_metrics; ++i) scalars.metrics[i].add(of_batch.metrics[i]);
  scalars.auxiliary_loss.add(scalars.auxiliary * static_cast<double>(of_batch.tokens));
}

/// Calls each(sum) for the exact sums of a step that ranks add up.
MONOMORPH_HOST_DEVICE inline void for_each_sum(StepScalars& scalars, const StepWords& of, const auto& each) {
  each(scalars.loss);
  each(scalars.gradient_norm.sum);
  for (int i = 0; i < of.n_metrics; ++i) each(scalars.metrics[i]);
  if (of.has_auxiliary_loss) each(scalars.auxiliary_loss);
}

/// What this rank has of a step.
MONOMORPH_HOST_DEVICE inline void write_words(StepScalars& scalars, const StepSettings& settings, const StepWords& to) {
  std::int64_t* next = to.words;
  for_each_sum(scalars, to, [&](ExactSum& sum) {
    const auto words = sum.normalized_words();
    for (int i = 0; i < ExactSum::n_words; ++i) *next++ = words[i];
  });
  for (std::int64_t i = 0; i < to.n_counters; ++i) *next++ = to.counters[i];
  *next++ = scalars.tokens;
  *next++ = settings.stops ? 1 : 0;
  *next++ = settings.saves ? 1 : 0;
  for (int rank = 0; rank < to.n_ranks; ++rank)  // a sum over ranks of which one has a number is that number
    *next++ = rank == to.rank ? std::bit_cast<std::int64_t>(scalars.gradient_norm.greatest) : 0;
}

/// What all ranks have of it, which becomes what this one has.
MONOMORPH_HOST_DEVICE inline void read_words(StepScalars& scalars, const StepWords& from) {
  const std::int64_t* next = from.words;
  for_each_sum(scalars, from, [&](ExactSum& sum) {
    sum.set_words(next);
    next += ExactSum::n_words;
  });
  for (std::int64_t i = 0; i < from.n_counters; ++i) from.counters[i] = *next++;
  scalars.tokens = *next++;
  scalars.others_stop = *next++ > 0;
  scalars.others_save = *next++ > 0;
  double greatest = 0;
  for (int rank = 0; rank < from.n_ranks; ++rank) greatest = larger_or_nan(greatest, std::bit_cast<double>(*next++));
  scalars.gradient_norm.greatest = greatest;
}

/// The norm of the gradients of the losses' sum, from its parts.
MONOMORPH_HOST_DEVICE inline double norm_of(const PartialGradientNorm& gradients, GradientNorm order) {
  if (order == GradientNorm::infinity) return gradients.greatest;
  const double sum = gradients.sum.value();
  return order == GradientNorm::two ? std::sqrt(sum) : sum;
}

MONOMORPH_HOST_DEVICE inline StepOutcome outcome_of(const StepScalars& scalars, const StepSettings& settings,
                                                    bool has_auxiliary_loss) {
  StepOutcome outcome;
  outcome.loss = scalars.loss.value();
  for (int i = 0; i < most_objective_metrics; ++i) outcome.metrics[i] = scalars.metrics[i].value();
  if (has_auxiliary_loss) outcome.auxiliary_loss = scalars.auxiliary_loss.value();
  outcome.tokens = scalars.tokens;
  outcome.stops = settings.stops || scalars.others_stop;
  outcome.saves = settings.saves || scalars.others_save;
  outcome.gradient_scale = 1 / (static_cast<double>(outcome.tokens) * scalars.loss_scale.value);
  outcome.gradient_norm = norm_of(scalars.gradient_norm, settings.norm) * outcome.gradient_scale;
  const bool finite = outcome.tokens > 0 && std::isfinite(outcome.gradient_norm);
  const double mean_loss = outcome.loss / static_cast<double>(outcome.tokens);
  outcome.spiked = finite && (mean_loss > settings.most_loss || outcome.gradient_norm > settings.most_gradient_norm);
  outcome.applied = finite && !outcome.spiked;
  outcome.next_loss_scale = scalars.loss_scale;
  if (outcome.tokens > 0) outcome.next_loss_scale = next_loss_scale(scalars.loss_scale, finite, settings.loss_scaling);
  return outcome;
}

MONOMORPH_HOST_DEVICE inline void decide(StepScalars& scalars, const StepSettings& settings, bool has_auxiliary_loss) {
  const StepOutcome outcome = outcome_of(scalars, settings, has_auxiliary_loss);
  if (outcome.applied) ++scalars.updates;
  const double clipped = outcome.gradient_norm > settings.max_norm ? settings.max_norm / outcome.gradient_norm : 1;
  scalars.decision = {.applies = outcome.applied,
                      .gradient_scale = outcome.gradient_scale * clipped,
                      .update = static_cast<std::uint64_t>(scalars.updates)};
  scalars.loss_scale = outcome.next_loss_scale;
  scalars.outcomes[settings.number % scalars.outcomes.size()] = outcome;
}

}  // namespace
}  // namespace monomorph
