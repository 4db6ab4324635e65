#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace monomorph::data {

/// A set of numbers below a limit that knows its least: bits of words, and above them bits that say which words are not
/// zero, and so on. Every operation takes one step a level, and a level has 64 times the numbers of the one above.
class NumberSet {
 public:
  explicit NumberSet(std::size_t limit) {
    do {
      limit = limit / 64 + 1;
      levels_.emplace_back(limit);
    } while (limit > 1);
  }

  bool empty() const { return levels_.back().front() == 0; }

  void insert(std::size_t number) {
    for (auto& words : levels_) {
      std::uint64_t& word = words[number / 64];
      const bool was_zero = word == 0;
      word |= std::uint64_t{1} << number % 64;
      if (!was_zero) return;
      number /= 64;
    }
  }

  void erase(std::size_t number) {
    for (auto& words : levels_) {
      std::uint64_t& word = words[number / 64];
      word &= ~(std::uint64_t{1} << number % 64);
      if (word != 0) return;
      number /= 64;
    }
  }

  /// There must be one.
  std::size_t least() const {
    std::size_t number = 0;
    for (auto words = levels_.rbegin(); words != levels_.rend(); ++words)
      number = 64 * number + static_cast<std::size_t>(std::countr_zero((*words)[number]));
    return number;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  ///< that of the numbers first, one of a single word last
};

}  // namespace monomorph::data
