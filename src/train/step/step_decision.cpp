#include <monomorph/core/extremes.hpp>
#include <monomorph/train/step/step_decision.hpp>

#include "train/step/exact_sum_words.hpp"

#include <algorithm>
#include <bit>

namespace monomorph::train {
namespace {

double greatest(std::span<const std::int64_t> of_ranks) {
  double result = 0;
  for (const std::int64_t of_rank : of_ranks) result = larger_or_nan(result, std::bit_cast<double>(of_rank));
  return result;
}

}  // namespace

StepDecision::StepDecision(Communicator& communicator, StepScalars* scalars, std::span<std::int64_t> counters,
                           std::size_t n_metrics, bool has_auxiliary_loss)
    : communicator_(communicator),
      scalars_(scalars),
      counters_(counters),
      n_metrics_(n_metrics),
      has_auxiliary_loss_(has_auxiliary_loss) {
  // From here on no step allocates: two sums, what an objective and blocks have, and what is not summed exactly.
  const std::size_t sums = 2 + n_metrics + (has_auxiliary_loss ? 1 : 0);
  words_.reserve(sums * ExactSum::n_words + counters.size() + 3 + static_cast<std::size_t>(communicator.size()));
}

void StepDecision::join_ranks(StepScalars& scalars, std::span<std::int64_t> counters, StepSettings& settings) {
  words_.clear();
  append(scalars.loss, words_);
  append(scalars.gradient_norm.sum, words_);
  for (std::size_t i = 0; i < n_metrics_; ++i) append(scalars.metrics[i], words_);
  if (has_auxiliary_loss_) append(scalars.auxiliary_loss, words_);
  words_.insert(words_.end(), counters.begin(), counters.end());
  words_.insert(words_.end(), {scalars.tokens, settings.stops ? 1 : 0, settings.saves ? 1 : 0});
  for (int rank = 0; rank < communicator_.size(); ++rank)  // a sum over ranks of which one has a number is that number
    words_.push_back(rank == communicator_.rank() ? std::bit_cast<std::int64_t>(scalars.gradient_norm.greatest) : 0);

  communicator_.all_reduce_sum(words_);

  std::span<const std::int64_t> rest = words_;
  scalars.loss = take_sum(rest);
  scalars.gradient_norm.sum = take_sum(rest);
  for (std::size_t i = 0; i < n_metrics_; ++i) scalars.metrics[i] = take_sum(rest);
  if (has_auxiliary_loss_) scalars.auxiliary_loss = take_sum(rest);
  std::ranges::copy(rest.first(counters.size()), counters.begin());
  rest = rest.subspan(counters.size());
  scalars.tokens = rest[0];
  settings.stops = rest[1] > 0;
  settings.saves = rest[2] > 0;
  scalars.gradient_norm.greatest = greatest(rest.subspan(3));
}

}  // namespace monomorph::train
