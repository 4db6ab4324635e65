#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// From which of several sets each sample of a run comes. After any number of samples each set has had its share of
/// them, rounded down or up; and where a run stands follows from that number alone.
class Mixture {
 public:
  static constexpr std::size_t most_sets = 256;
  static constexpr double least_share = 1e-6;

  /// @param weights one a set, relative to each other
  /// @throws [DATA-64] if there is none or too many, or one is not above 0 or less than `least_share` of all
  explicit Mixture(std::span<const double> weights);

  struct Place {
    std::size_t set;
    std::int64_t index;  ///< how many samples of that set came before
  };

  /// Goes through the samples of a run in order. Allocates nothing.
  class Cursor {
   public:
    /// Stands before sample `n`.
    Cursor(const Mixture& mixture, std::int64_t n);
    /// Where the next sample comes from.
    Place next();
    /// How many samples of a set came before.
    std::int64_t count(std::size_t set) const { return sets_[set].count; }

   private:
    struct Set {
      std::int64_t count, first, end;  ///< the set's next sample must be one of the run's samples [first, end)
    };
    void set_count(std::size_t set, std::int64_t count);
    void take_begun(std::int64_t n);

    const Mixture& mixture_;
    std::int64_t position_;
    std::array<Set, most_sets> sets_;
  };

  /// How many of the first `n` samples each set has.
  std::vector<std::int64_t> counts(std::int64_t n) const;
  /// The part of all samples that comes from a set.
  double share(std::size_t set) const;
  std::size_t n_sets() const noexcept { return weights_.size(); }

 private:
  std::vector<std::uint64_t> weights_;
  std::uint64_t sum_ = 0;
};

}  // namespace monomorph::data
