#pragma once
#include <array>
#include <monomorph/runtime/kernels/dropout.hpp>

namespace monomorph {

/// The key of a kernel that is recorded, for the run that comes next.
inline DropoutKey of_this_run(DropoutKey key) {
  key.step = key.of_run->step;
  key.first_sample = key.of_run->first_sample;
  return key;
}

}  // namespace monomorph

namespace monomorph::detail {

/// The part of a mask's randomness that all of its elements share.
struct DropoutStream {
  std::array<std::uint32_t, 2> key;
  std::uint32_t drop_below;  ///< an element is zeroed if its random word is less
  double kept_factor;        ///< 1 / (1 - rate)
};
DropoutStream dropout_stream(const DropoutKey& key);

}  // namespace monomorph::detail
