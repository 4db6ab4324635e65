#include "train/inference/candidates.hpp"

#include <algorithm>
#include <cmath>

namespace monomorph::train {

void Candidates::assign(const std::vector<double>& logits, double temperature) {
  tokens_.clear(), sorted_ = 0;
  const double greatest = *std::ranges::max_element(logits);
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const double probability = std::exp((logits[id] - greatest) / temperature);
    if (probability > 0) tokens_.push_back({static_cast<std::int32_t>(id), probability});
  }
}

void Candidates::keep(std::size_t n) {
  if (n >= tokens_.size()) return;
  sort_to(n);
  tokens_.resize(n);
  sorted_ = n;
}

/// The sorted ones come first and are the most probable, so what is left of them stays sorted.
void Candidates::keep_from(double probability) {
  std::erase_if(tokens_, [&](const Candidate& token) { return token.probability < probability; });
  sorted_ = std::min(sorted_, tokens_.size());
}

double Candidates::total() const {
  double sum = 0;
  for (const Candidate& token : tokens_) sum += token.probability;
  return sum;
}

/// At least twice as many as before, so that few passes sort all.
void Candidates::sort_to(std::size_t n) {
  if (n <= sorted_) return;
  constexpr std::size_t fewest = 64;
  n = std::min(tokens_.size(), std::max({n, 2 * sorted_, fewest}));
  const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(sorted_),
             middle = tokens_.begin() + static_cast<std::ptrdiff_t>(n);
  std::partial_sort(first, middle, tokens_.end(), [](const Candidate& a, const Candidate& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
  });
  sorted_ = n;
}

}  // namespace monomorph::train
