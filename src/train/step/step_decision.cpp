#include <monomorph/core/extremes.hpp>
#include <monomorph/train/step/step_decision.hpp>

#include "train/step/exact_sum_words.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace monomorph::train {
namespace {

double greatest(std::span<const std::int64_t> of_ranks) {
  double result = 0;
  for (const std::int64_t of_rank : of_ranks) result = larger_or_nan(result, std::bit_cast<double>(of_rank));
  return result;
}

}  // namespace

LossScale next_loss_scale(LossScale scale, bool applied, const LossScaling& scaling) {
  if (!scaling.is_dynamic) return scale;
  if (!applied) return {std::max(scale.value / 2, scaling.minimum), 0};
  if (scale.steps + 1 < scaling.growth_steps) return {scale.value, scale.steps + 1};
  return {std::min(2 * scale.value, LossScaling::greatest), 0};
}

StepDecision::StepDecision(Communicator& communicator, StepScalars* scalars, std::span<std::int64_t> counters,
                           std::size_t n_metrics, bool has_auxiliary_loss)
    : communicator_(communicator),
      scalars_(scalars),
      counters_(counters),
      n_metrics_(n_metrics),
      has_auxiliary_loss_(has_auxiliary_loss) {
  // From here on words_ has the length that it has in every step. What the pointers point to is the device's.
  pack({}, std::vector<std::int64_t>(counters.size()), {});
}

void StepDecision::pack(const StepScalars& scalars, std::span<const std::int64_t> counters,
                        const StepSettings& settings) {
  words_.clear();
  append(scalars.loss, words_);
  append(scalars.gradient_norm.sum, words_);
  for (std::size_t i = 0; i < n_metrics_; ++i) append(scalars.metrics[i], words_);
  if (has_auxiliary_loss_) append(scalars.auxiliary_loss, words_);
  words_.insert(words_.end(), counters.begin(), counters.end());
  words_.insert(words_.end(), {scalars.tokens, settings.stops ? 1 : 0, settings.saves ? 1 : 0});
  for (int rank = 0; rank < communicator_.size(); ++rank)  // a sum over ranks of which one has a number is that number
    words_.push_back(rank == communicator_.rank() ? std::bit_cast<std::int64_t>(scalars.gradient_norm.greatest) : 0);
}

void StepDecision::decide(const StepSettings& settings, Ticket ticket) {
  StepOutcome& outcome = outcomes_[ticket.number % n_kept];
  outcome = {};
  std::span<const std::int64_t> rest = words_;
  outcome.loss = take_sum(rest);
  const double sum = take_sum(rest);
  for (std::size_t i = 0; i < n_metrics_; ++i) outcome.metrics[i] = take_sum(rest);
  if (has_auxiliary_loss_) outcome.auxiliary_loss = take_sum(rest);
  std::ranges::copy(rest.first(counters_.size()), counters_.begin());
  rest = rest.subspan(counters_.size());
  outcome.tokens = rest[0];
  outcome.stops = rest[1] > 0;
  outcome.saves = rest[2] > 0;
  const double norm_of_sum = settings.norm == GradientNorm::infinity ? greatest(rest.subspan(3))
                             : settings.norm == GradientNorm::two    ? std::sqrt(sum)
                                                                     : sum;
  LossScale& loss_scale = scalars_->loss_scale;
  outcome.gradient_scale = 1 / (static_cast<double>(outcome.tokens) * loss_scale.value);
  outcome.gradient_norm = norm_of_sum * outcome.gradient_scale;
  outcome.applied = outcome.tokens > 0 && std::isfinite(outcome.gradient_norm);
  if (outcome.applied) ++scalars_->updates;
  const double clipped = outcome.gradient_norm > settings.max_norm ? settings.max_norm / outcome.gradient_norm : 1;
  scalars_->decision = {.applies = outcome.applied,
                        .gradient_scale = outcome.gradient_scale * clipped,
                        .update = static_cast<std::uint64_t>(scalars_->updates)};
  if (outcome.tokens > 0) loss_scale = next_loss_scale(loss_scale, outcome.applied, settings.loss_scaling);
  outcome.next_loss_scale = loss_scale;
}

}  // namespace monomorph::train
