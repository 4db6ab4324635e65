#include <monomorph/core/exact_sum.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace monomorph {
namespace {

constexpr int mantissa_bits = 52, exponent_mask = 0x7ff, lowest_exponent = -1074;
constexpr std::uint64_t low_half = 0xffff'ffff;
/// A limb gains less than 2^33 by an addition, so it holds this many before its upper half must be carried on.
constexpr std::int64_t most_adds = std::int64_t{1} << 29;

}  // namespace

void ExactSum::add(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> mantissa_bits) & exponent_mask;
  const bool negative = (bits >> 63) != 0;
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
  if (exponent == exponent_mask) {
    ++(mantissa == 0 && !negative ? infinities() : nans());
    return;
  }
  if (exponent > 0) mantissa |= std::uint64_t{1} << mantissa_bits;
  const int position = exponent > 0 ? exponent - 1 : 0, limb = position / 32, shift = position % 32;
  const std::uint64_t low = (mantissa & low_half) << shift, high = (mantissa >> 32) << shift;
  const std::uint64_t parts[3] = {low & low_half, (low >> 32) + (high & low_half), high >> 32};
  for (int i = 0; i < 3; ++i) {
    const auto part = static_cast<std::int64_t>(parts[i]);
    words_[limb + i] += negative ? -part : part;
  }
  if (++adds_since_carry_ == most_adds) carry();
}

void ExactSum::add(const ExactSum& other) {
  ExactSum normalized = other;
  normalized.carry();
  carry();
  for (int i = 0; i < n_words; ++i) words_[i] += normalized.words_[i];
  adds_since_carry_ = 1;
}

ExactSum::ExactSum(std::span<const std::int64_t, n_words> words) { std::ranges::copy(words, words_.begin()); }

std::span<std::int64_t, ExactSum::n_words> ExactSum::normalized_words() {
  carry();
  return words_;
}

/// All limbs but the last into [0, 2^32); the last takes the sign.
void ExactSum::carry() {
  for (int i = 0; i + 1 < n_limbs; ++i) {
    words_[i + 1] += words_[i] >> 32;
    words_[i] &= static_cast<std::int64_t>(low_half);
  }
  adds_since_carry_ = 0;
}

double ExactSum::value() const {
  ExactSum sum = *this;
  if (sum.nans() > 0) return std::numeric_limits<double>::quiet_NaN();
  if (sum.infinities() > 0) return std::numeric_limits<double>::infinity();
  sum.carry();
  const bool negative = sum.words_[n_limbs - 1] < 0;
  if (negative) {
    for (int i = 0; i < n_limbs; ++i) sum.words_[i] = -sum.words_[i];
    sum.carry();
  }
  int top = n_limbs - 1;
  while (top > 0 && sum.words_[top] == 0) --top;
  // The 64 bits from the highest set one down; what lies below them only matters as being there or not.
  const auto limb = [&](int i) { return i >= 0 ? static_cast<std::uint64_t>(sum.words_[i]) : 0; };
  const int leading = std::countl_zero(limb(top)) - 32, taken = 32 - leading;  // the last limb too is below 2^32
  std::uint64_t window = limb(top) << 32 | limb(top - 1);
  window = leading > 0 ? window << leading | limb(top - 2) >> taken : window;
  bool rest = leading > 0 ? (limb(top - 2) & ((std::uint64_t{1} << taken) - 1)) != 0 : limb(top - 2) != 0;
  for (int i = top - 3; i >= 0; --i) rest = rest || sum.words_[i] != 0;
  // To odd, so that the conversion to double, which rounds to nearest, is the only rounding.
  const double rounded = static_cast<double>(rest ? window | 1 : window);
  const double magnitude = std::ldexp(rounded, (top - 1) * 32 - leading + lowest_exponent);
  return negative ? -magnitude : magnitude;
}

}  // namespace monomorph
