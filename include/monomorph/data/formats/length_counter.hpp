#pragma once
#include <cstdint>
#include <vector>

namespace monomorph::data {

/// Counts lengths, however many there are, in a megabyte. Lengths of 65,536 and more are known to one part in a
/// thousand; sum, least and largest are exact.
class LengthCounter {
 public:
  LengthCounter();
  void add(std::uint64_t length);

  std::int64_t count() const noexcept { return count_; }
  std::uint64_t sum() const noexcept { return sum_; }
  std::uint64_t least() const noexcept { return least_; }
  std::uint64_t largest() const noexcept { return largest_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  /// The least length that a share of `fraction`, in (0, 1], does not exceed; 0 if there are none.
  std::uint64_t quantile(double fraction) const;

  struct Bin {
    std::uint64_t begin, end;  ///< lengths in [begin, end)
    std::int64_t count;
    std::uint64_t sum;  ///< of their lengths
  };
  /// 0, 1, 2 to 3, 4 to 7, and so on, from the first that has any to the last.
  std::vector<Bin> bins() const;

 private:
  std::vector<std::int64_t> counts_;
  std::vector<std::uint64_t> bin_sums_;
  std::int64_t count_ = 0;
  std::uint64_t sum_ = 0, least_ = 0, largest_ = 0;
};

}  // namespace monomorph::data
