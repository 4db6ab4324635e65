#pragma once
#include <monomorph/core/exact_sum.hpp>
#include <span>
#include <vector>

/// Exact sums among the integers of one message that ranks add up.
namespace monomorph::train {

inline void append(ExactSum sum, std::vector<std::int64_t>& message) {
  const auto words = sum.normalized_words();
  message.insert(message.end(), words.begin(), words.end());
}

/// The sum over ranks that a message begins with.   @param rest becomes what lies behind it
inline ExactSum take_sum(std::span<const std::int64_t>& rest) {
  const ExactSum sum(rest.first<ExactSum::n_words>());
  rest = rest.subspan(ExactSum::n_words);
  return sum;
}

}  // namespace monomorph::train
