#include <monomorph/data/formats/length_counter.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace monomorph::data {
namespace {

constexpr std::uint64_t n_exact = 1 << 16;
constexpr unsigned mantissa_bits = 10;  // of the lengths that are not counted exactly
constexpr unsigned first_exponent = 16;
constexpr std::size_t n_slots = n_exact + ((64 - first_exponent) << mantissa_bits);

std::size_t slot_of(std::uint64_t length) {
  if (length < n_exact) return length;
  const auto exponent = static_cast<unsigned>(std::bit_width(length)) - 1;
  const std::uint64_t mantissa = length >> (exponent - mantissa_bits) & ((1 << mantissa_bits) - 1);
  return n_exact + ((exponent - first_exponent) << mantissa_bits) + mantissa;
}

/// The least length in a slot.
std::uint64_t least_in(std::size_t slot) {
  if (slot < n_exact) return slot;
  const std::size_t place = slot - n_exact;
  const unsigned exponent = static_cast<unsigned>(place >> mantissa_bits) + first_exponent;
  const std::uint64_t mantissa = place & ((1 << mantissa_bits) - 1);
  return (mantissa | 1 << mantissa_bits) << (exponent - mantissa_bits);
}

/// 0 for 0, 1 for 1, 2 for 2 to 3, 3 for 4 to 7, ...
std::size_t bin_of(std::uint64_t length) { return static_cast<std::size_t>(std::bit_width(length)); }

}  // namespace

LengthCounter::LengthCounter() : counts_(n_slots), bin_sums_(65) {}

void LengthCounter::add(std::uint64_t length) {
  ++counts_[slot_of(length)];
  bin_sums_[bin_of(length)] += length;
  least_ = count_ == 0 ? length : std::min(least_, length);
  largest_ = std::max(largest_, length);
  sum_ += length;
  ++count_;
}

std::uint64_t LengthCounter::quantile(double fraction) const {
  const auto wanted = static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(count_)));
  std::int64_t n_seen = 0;
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    n_seen += counts_[slot];
    if (counts_[slot] > 0 && n_seen >= wanted) return std::clamp(least_in(slot), least_, largest_);
  }
  return 0;
}

std::vector<LengthCounter::Bin> LengthCounter::bins() const {
  if (count_ == 0) return {};
  std::vector<Bin> bins;
  for (std::size_t bin = bin_of(least_); bin <= bin_of(largest_); ++bin) {
    const std::uint64_t begin = bin == 0 ? 0 : std::uint64_t{1} << (bin - 1);
    const std::uint64_t end = bin == 0 ? 1 : begin * 2;
    bins.push_back({begin, end, 0, bin_sums_[bin]});
  }
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    if (counts_[slot] > 0) bins[bin_of(least_in(slot)) - bin_of(least_)].count += counts_[slot];
  }
  return bins;
}

}  // namespace monomorph::data
