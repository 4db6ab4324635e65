#include "train/step/step_stats.hpp"

#include "train/step/exact_sum_words.hpp"

#include <monomorph/core/extremes.hpp>

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

GlobalStepStats StepStatsReduction::operator()(const LocalStepStats& local, const PartialGradientNorm& gradients,
                                               GradientNorm order, BlockCounts& counts) {
  words_.clear();
  append(local.loss, words_);
  append(gradients.sum, words_);
  for (std::size_t i = 0; i < n_metrics_; ++i) append(local.metrics[i], words_);
  if (counts.has_auxiliary_loss) append(counts.auxiliary_loss, words_);
  words_.insert(words_.end(), counts.counters.begin(), counts.counters.end());
  words_.push_back(local.tokens);
  words_.push_back(local.stops ? 1 : 0);
  words_.push_back(local.saves ? 1 : 0);
  for (int rank = 0; rank < communicator_.size(); ++rank)  // a sum over ranks of which one has a number is that number
    words_.push_back(rank == communicator_.rank() ? std::bit_cast<std::int64_t>(gradients.greatest) : 0);
  communicator_.all_reduce_sum(words_);

  std::span<const std::int64_t> rest = words_;
  GlobalStepStats totals;
  totals.loss = take_sum(rest);
  const double sum = take_sum(rest);
  for (std::size_t i = 0; i < n_metrics_; ++i) totals.metrics[i] = take_sum(rest);
  if (counts.has_auxiliary_loss) totals.auxiliary_loss = take_sum(rest);
  std::ranges::copy(rest.first(counts.counters.size()), counts.counters.begin());
  rest = rest.subspan(counts.counters.size());
  totals.tokens = rest[0];
  totals.stops = rest[1] > 0;
  totals.saves = rest[2] > 0;
  totals.gradient_norm = order == GradientNorm::infinity ? greatest(rest.subspan(3))
                         : order == GradientNorm::two    ? std::sqrt(sum)
                                                         : sum;
  return totals;
}

}  // namespace monomorph::train
