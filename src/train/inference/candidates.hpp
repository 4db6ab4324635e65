#pragma once
#include <monomorph/train/inference/sampling.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::train {

/// Tokens by falling probability, ties by id. They lie in buckets of similar logits, whose probabilities are summed,
/// and a bucket is sorted only when somebody looks into it: a draw finds its bucket by the sums, and a whole vocabulary
/// is hardly ever sorted.
class Candidates {
 public:
  /// Takes the place of those before. Probabilities are relative: that of the most probable token is 1.
  void assign(std::span<const double> logits, double temperature);
  std::size_t size() const { return size_; }
  const Candidate& operator[](std::size_t rank);
  void keep(std::size_t n);
  void keep_from(double probability);
  double total();
  /// The first rank up to which, with it, the probabilities add up to more than `sum`; the last one if none does.
  std::size_t rank_above(double sum);
  /// How many of the first ones it takes to add up to `sum` or more, at least one; all if they do not.
  std::size_t count_of(double sum);

 private:
  static constexpr std::size_t n_buckets = 1024;

  std::size_t begin_of(std::size_t bucket) const { return bucket == 0 ? 0 : ends_[bucket - 1]; }
  /// Of those that are kept.
  std::size_t end_of(std::size_t bucket) const { return std::min(ends_[bucket], size_); }
  void sort(std::size_t bucket);
  double sum_of(std::size_t bucket);
  template <class Reached> std::size_t first_where(const Reached& reached);

  std::vector<Candidate> tokens_;  ///< bucket by bucket
  std::size_t size_ = 0;           ///< so many of the first ones are kept
  std::array<std::size_t, n_buckets> ends_{};
  std::array<double, n_buckets> sums_{};
  std::array<bool, n_buckets> sorted_{};
  std::vector<Candidate> by_id_;
  std::vector<std::uint16_t> bucket_by_id_;
};

}  // namespace monomorph::train
