#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

namespace monomorph {

/// A sum of doubles without rounding, so that neither order nor grouping shows in it: the same for any number of
/// threads and ranks. One fixed-point number over double's whole range, in limbs of 32 bits (Kulisch's long
/// accumulator: Kulisch and Miranker 1986, "The arithmetic of the digital computer"), which ranks add as integers.
///
/// All of it is constexpr, as kernels on GPUs call it, too; there it lies where it is needed and is never copied, so
/// that no thread needs a stack. What kernels of CPUs call is always inlined, as each instruction set has its own.
class ExactSum {
 public:
  static constexpr int n_limbs = 68;           ///< 2,098 bits of double, and room above for many terms
  static constexpr int n_words = n_limbs + 2;  ///< and how many terms were NaN, and infinite

  /// What a finite number adds to three limbs, of which `limb` is the lowest: less than 2^33 each.
  struct Term {
    int limb;
    std::int64_t parts[3];
  };
  [[gnu::always_inline]] static constexpr Term term_of(double x);
  static constexpr bool is_finite(double x) { return biased_exponent(x) != exponent_mask; }
  /// The word that counts numbers like this one, which is not finite.
  static constexpr int word_of_special(double x) {
    return x == std::numeric_limits<double>::infinity() ? n_limbs + 1 : n_limbs;
  }

  ExactSum() = default;
  /// As of the constructor below, where the sum lies.
  constexpr void set_words(const std::int64_t* words) {
    for (int i = 0; i < n_words; ++i) words_[i] = words[i];
    adds_since_carry_ = 0;
  }
  /// From what normalized_words gave, added up over ranks.
  constexpr explicit ExactSum(std::span<const std::int64_t, n_words> words) { set_words(words.data()); }
  [[gnu::always_inline]] constexpr void add(double x);
  [[gnu::always_inline]] constexpr void add(const ExactSum& other) { add_words(other.words_.data()); }
  /// The state of a sum, in which each limb is the sum of the parts of less than 2^29 terms.
  [[gnu::always_inline]] constexpr void add_words(const std::int64_t* words);
  /// The sum, rounded once to the nearest double; infinity or NaN if a term was (negative infinities count as NaN).
  constexpr double value() const;

  /// The state as integers: the word-wise sum of what up to 2^31 ranks have normalized is the state of their sum.
  constexpr std::span<std::int64_t, n_words> normalized_words() {
    carry();
    return words_;
  }

 private:
  static constexpr int mantissa_bits = 52, exponent_mask = 0x7ff, lowest_exponent = -1074;
  static constexpr std::int64_t low_half = 0xffff'ffff;
  /// A limb gains less than 2^33 by an addition, so it holds this many before its upper half must be carried on.
  static constexpr std::int64_t most_adds = std::int64_t{1} << 29;

  /// The highest limb of a magnitude that is not zero, those next to it, and whether anything lies below them.
  struct Leading {
    int top = 0;
    std::uint64_t limbs[3] = {};
    bool rest = false;
    bool negative = false;  ///< the last limb, once carried: the magnitude is that of minus the number
  };

  [[gnu::always_inline]] static constexpr int biased_exponent(double x) {
    return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> mantissa_bits) & exponent_mask;
  }
  static constexpr double power_of_two(int exponent) {  // of a normal number
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << mantissa_bits);
  }
  [[gnu::always_inline]] constexpr void carry();
  constexpr Leading leading_of(bool negated) const;

  std::array<std::int64_t, n_words> words_{};
  std::int64_t adds_since_carry_ = 0;
};

constexpr ExactSum::Term ExactSum::term_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = biased_exponent(x);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
  const std::uint64_t mantissa = exponent > 0 ? fraction | std::uint64_t{1} << mantissa_bits : fraction;
  const int position = exponent > 0 ? exponent - 1 : 0, shift = position % 32;
  const std::uint64_t low = (mantissa & low_half) << shift, high = (mantissa >> 32) << shift;
  const auto part0 = static_cast<std::int64_t>(low & low_half),
             part1 = static_cast<std::int64_t>((low >> 32) + (high & low_half)),
             part2 = static_cast<std::int64_t>(high >> 32);
  const bool negative = (bits >> 63) != 0;
  return {position / 32, {negative ? -part0 : part0, negative ? -part1 : part1, negative ? -part2 : part2}};
}

constexpr void ExactSum::add(double x) {
  if (biased_exponent(x) == exponent_mask) {
    ++words_[word_of_special(x)];
    return;
  }
  const Term term = term_of(x);
  for (int i = 0; i < 3; ++i) words_[term.limb + i] += term.parts[i];
  if (++adds_since_carry_ == most_adds) carry();
}

constexpr void ExactSum::add_words(const std::int64_t* words) {
  carry();
  std::int64_t carried = 0;
  for (int i = 0; i + 1 < n_limbs; ++i) {
    const std::int64_t limb = words[i] + carried;
    words_[i] += limb & low_half;
    carried = limb >> 32;
  }
  words_[n_limbs - 1] += words[n_limbs - 1] + carried;
  for (int i = n_limbs; i < n_words; ++i) words_[i] += words[i];
  adds_since_carry_ = 1;
}

/// All limbs but the last into [0, 2^32); the last takes the sign.
constexpr void ExactSum::carry() {
  std::int64_t carried = 0;
  for (int i = 0; i + 1 < n_limbs; ++i) {
    const std::int64_t limb = words_[i] + carried;
    words_[i] = limb & low_half;
    carried = limb >> 32;
  }
  words_[n_limbs - 1] += carried;
  adds_since_carry_ = 0;
}

/// Carries upwards without writing the limbs back.
constexpr ExactSum::Leading ExactSum::leading_of(bool negated) const {
  Leading leading;
  std::int64_t carried = 0;
  std::uint64_t one_below = 0, two_below = 0;
  bool lower = false;
  for (int i = 0; i < n_limbs; ++i) {
    const std::int64_t limb = (negated ? -words_[i] : words_[i]) + carried;
    if (i + 1 == n_limbs && limb < 0) leading.negative = true;
    const auto digit = static_cast<std::uint64_t>(limb & low_half);  // the last limb too is below 2^32
    if (digit != 0) {
      leading.top = i;
      leading.limbs[0] = digit, leading.limbs[1] = one_below, leading.limbs[2] = two_below;
      leading.rest = lower;
    }
    lower = lower || two_below != 0;
    two_below = one_below;
    one_below = digit;
    carried = limb >> 32;
  }
  return leading;
}

constexpr double ExactSum::value() const {
  if (words_[n_limbs] > 0) return std::numeric_limits<double>::quiet_NaN();
  if (words_[n_limbs + 1] > 0) return std::numeric_limits<double>::infinity();
  Leading sum = leading_of(false);
  const bool negative = sum.negative;
  if (negative) sum = leading_of(true);
  // The 64 bits from the highest set one down; what lies below them only matters as being there or not.
  int leading = 0;
  while (leading < 32 && (sum.limbs[0] << leading >> 31) == 0) ++leading;
  const int taken = 32 - leading;
  const std::uint64_t window = (sum.limbs[0] << 32 | sum.limbs[1]) << leading | sum.limbs[2] >> taken;
  const bool rest = sum.rest || (sum.limbs[2] & ((std::uint64_t{1} << taken) - 1)) != 0;
  // To odd, so that the conversion to double, which rounds to nearest, is the only rounding.
  const auto rounded = static_cast<double>(rest ? window | 1 : window);
  // Times a power of two in two factors, as it may be none of a double.
  const int exponent = (sum.top - 1) * 32 - leading + lowest_exponent, half = exponent / 2;
  const double magnitude = rounded * power_of_two(half) * power_of_two(exponent - half);
  return negative ? -magnitude : magnitude;
}

}  // namespace monomorph
