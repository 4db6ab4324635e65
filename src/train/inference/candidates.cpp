#include "train/inference/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace monomorph::train {
namespace {

bool comes_first(const Candidate& a, const Candidate& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
}

/// How far the least of them lies below the greatest, in nats, as far as that matters for a sum of probabilities.
double range_of(std::span<const double> logits, double greatest, double temperature) {
  constexpr double farthest = 64;
  double least = greatest;
  for (const double logit : logits) least = std::min(least, logit);
  return std::min(farthest, (greatest - least) / temperature);
}

}  // namespace

void Candidates::assign(std::span<const double> logits, double temperature) {
  const double greatest = *std::ranges::max_element(logits);
  const double range = range_of(logits, greatest, temperature);
  const double buckets_per_nat = range > 0 ? static_cast<double>(n_buckets - 1) / range : 0;
  by_id_.resize(logits.size()), bucket_by_id_.resize(logits.size());
  ends_ = {}, sums_ = {}, sorted_ = {}, size_ = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const double below = (logits[id] - greatest) / temperature;
    const double probability = std::exp(below);
    if (probability <= 0) continue;
    const auto bucket = static_cast<std::uint16_t>(std::min(range, -below) * buckets_per_nat);
    by_id_[size_] = {static_cast<std::int32_t>(id), probability};
    bucket_by_id_[size_++] = bucket;
    sums_[bucket] += probability;
    ++ends_[bucket];
  }
  tokens_.resize(size_);
  std::array<std::size_t, n_buckets> places{};
  std::size_t end = 0;
  for (std::size_t bucket = 0; bucket < n_buckets; ++bucket) {
    places[bucket] = end;
    ends_[bucket] = end += ends_[bucket];
  }
  for (std::size_t i = 0; i < size_; ++i) tokens_[places[bucket_by_id_[i]]++] = by_id_[i];
}

const Candidate& Candidates::operator[](std::size_t rank) {
  sort(static_cast<std::size_t>(std::ranges::upper_bound(ends_, rank) - ends_.begin()));
  return tokens_[rank];
}

void Candidates::sort(std::size_t bucket) {
  if (std::exchange(sorted_[bucket], true)) return;
  const auto begin = tokens_.begin();
  std::sort(begin + static_cast<std::ptrdiff_t>(begin_of(bucket)), begin + static_cast<std::ptrdiff_t>(ends_[bucket]),
            comes_first);
}

void Candidates::keep(std::size_t n) { size_ = std::min(size_, n); }

void Candidates::keep_from(double probability) {
  const auto is_lower = [&](const Candidate& token) { return token.probability < probability; };
  for (std::size_t bucket = 0; bucket < n_buckets && begin_of(bucket) < size_; ++bucket) {
    const std::span<const Candidate> kept(tokens_.data() + begin_of(bucket), end_of(bucket) - begin_of(bucket));
    if (std::ranges::none_of(kept, is_lower)) continue;
    sort(bucket);
    size_ = begin_of(bucket) + static_cast<std::size_t>(std::ranges::find_if(kept, is_lower) - kept.begin());
  }
}

/// A bucket that is cut off keeps its first ones, which are known when it is sorted.
double Candidates::sum_of(std::size_t bucket) {
  if (ends_[bucket] <= size_) return sums_[bucket];
  sort(bucket);
  double sum = 0;
  for (std::size_t i = begin_of(bucket); i < size_; ++i) sum += tokens_[i].probability;
  return sum;
}

double Candidates::total() {
  double sum = 0;
  for (std::size_t bucket = 0; bucket < n_buckets && begin_of(bucket) < size_; ++bucket) sum += sum_of(bucket);
  return sum;
}

/// The first rank where `reached` says so of the sum of all probabilities up to it; the last rank if it never does.
template <class Reached> std::size_t Candidates::first_where(const Reached& reached) {
  double before = 0;
  for (std::size_t bucket = 0; bucket < n_buckets && begin_of(bucket) < size_; ++bucket) {
    const double with = before + sum_of(bucket);
    if (reached(with) || end_of(bucket) == size_) {
      sort(bucket);
      for (std::size_t i = begin_of(bucket); i < end_of(bucket); ++i)
        if (reached(before += tokens_[i].probability)) return i;
      return end_of(bucket) - 1;
    }
    before = with;
  }
  return 0;
}

std::size_t Candidates::rank_above(double sum) {
  return first_where([&](double reached) { return reached > sum; });
}

std::size_t Candidates::count_of(double sum) {
  return 1 + first_where([&](double reached) { return reached >= sum; });
}

}  // namespace monomorph::train
