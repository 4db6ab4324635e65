#pragma once
#include <cstdint>
#include <monomorph/spec/rotary_spec.hpp>
#include <vector>

namespace monomorph::cpu {

/// The angles by which the pairs of features of a head turn from one position to the next, and a factor of what is
/// turned.
struct RotaryFrequencies {
  std::vector<double> frequency_H;  ///< of H/2 pairs
  double attention_factor = 1;
};

/// @param half pairs of features, H/2   @param tokens positions in a row, on which dynamic scaling depends
RotaryFrequencies rotary_frequencies(const RotarySpec& rotary, std::int64_t half, std::int64_t tokens);

}  // namespace monomorph::cpu
