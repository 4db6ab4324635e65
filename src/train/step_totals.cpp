#include "train/step_totals.hpp"

#include <bit>
#include <cmath>

namespace monomorph::train {
namespace {

void append(ExactSum sum, std::vector<std::int64_t>& words) {
  const auto own = sum.normalized_words();
  words.insert(words.end(), own.begin(), own.end());
}
double take(const std::int64_t*& words) {
  const ExactSum sum(std::span<const std::int64_t, ExactSum::n_words>(words, ExactSum::n_words));
  words += ExactSum::n_words;
  return sum.value();
}

double greatest(const std::int64_t* of_rank, int ranks) {
  double result = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto value = std::bit_cast<double>(of_rank[rank]);
    result = value > result || std::isnan(value) ? value : result;
    if (std::isnan(result)) break;
  }
  return result;
}

}  // namespace

StepTotals StepReduction::operator()(const StepPart& own, const GradientSize& gradients, GradientNorm order) {
  words_.clear();
  append(own.loss, words_);
  append(gradients.sum, words_);
  words_.push_back(own.tokens);
  words_.push_back(own.stops ? 1 : 0);
  for (int rank = 0; rank < communicator_.size(); ++rank)  // a sum over ranks of which one has a number is that number
    words_.push_back(rank == communicator_.rank() ? std::bit_cast<std::int64_t>(gradients.greatest) : 0);
  communicator_.sum(words_);

  const std::int64_t* next = words_.data();
  StepTotals totals;
  totals.loss = take(next);
  const double sum = take(next);
  totals.tokens = *next++;
  totals.stops = *next++ > 0;
  totals.gradient_norm = order == GradientNorm::infinity ? greatest(next, communicator_.size())
                         : order == GradientNorm::two    ? std::sqrt(sum)
                                                         : sum;
  return totals;
}

}  // namespace monomorph::train
