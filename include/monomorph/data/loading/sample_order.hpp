#pragma once
#include <cstddef>
#include <cstdint>

namespace monomorph::data {

/// The order in which samples are seen: a permutation of [0, n) for each epoch, computed and not stored, so that the
/// position of a run is one number and the order the same for every number of ranks.
class SampleOrder {
 public:
  /// @param n_samples at least 1   @param shuffle false: every epoch in the order of the file
  SampleOrder(std::int64_t n_samples, std::uint64_t seed, bool shuffle);

  /// The seed of one of the sets of a mixture; that of the first set is the run's own.
  static std::uint64_t seed_of_set(std::uint64_t seed, std::size_t set);

  struct Place {
    std::int64_t epoch, index;
  };
  /// Which sample is the `global_sample`-th of the run, counted from 0 over all epochs.
  Place place(std::int64_t global_sample) const;
  std::int64_t n_samples() const noexcept { return n_samples_; }

 private:
  std::int64_t n_samples_;
  std::uint64_t seed_;
  bool shuffle_;
  int half_bits_;  ///< n_samples <= 2^(2 half_bits)
};

}  // namespace monomorph::data
