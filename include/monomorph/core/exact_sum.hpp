#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace monomorph {

/// A sum of doubles without rounding, so that neither order nor grouping shows in it: the same for any number of
/// threads and ranks. One fixed-point number over double's whole range, in limbs of 32 bits (Kulisch's long
/// accumulator: Kulisch and Miranker 1986, "The arithmetic of the digital computer"), which ranks add as integers.
class ExactSum {
 public:
  static constexpr int n_limbs = 68;           ///< 2,098 bits of double, and room above for many terms
  static constexpr int n_words = n_limbs + 2;  ///< and how many terms were NaN, and infinite

  ExactSum() = default;
  /// From what normalized_words gave, added up over ranks.
  explicit ExactSum(std::span<const std::int64_t, n_words> words);
  void add(double x);
  void add(const ExactSum& other);
  /// The sum, rounded once to the nearest double; infinity or NaN if a term was (negative infinities count as NaN).
  double value() const;

  /// The state as integers: the word-wise sum of what up to 2^31 ranks have normalized is the state of their sum.
  std::span<std::int64_t, n_words> normalized_words();

 private:
  void carry();
  std::int64_t& nans() { return words_[n_limbs]; }
  std::int64_t& infinities() { return words_[n_limbs + 1]; }

  std::array<std::int64_t, n_words> words_{};
  std::int64_t adds_since_carry_ = 0;
};

}  // namespace monomorph
