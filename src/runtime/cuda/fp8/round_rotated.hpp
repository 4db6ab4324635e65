#pragma once
#include "runtime/cuda/fp8/round_to_fp8.hpp"

namespace monomorph::cuda {

/// Gradients of heads that were rotated, and behind them of what was not: as runtime/kernels/rotary.hpp has them.
struct RotatedHeads {
  View dy_MN;
  std::int64_t rotated;  ///< columns
  View cos_TH, sin_TH;
  std::int64_t tokens;
  const std::int32_t* document_starts_M;
};

/// round_to_fp8 of these gradients, rotated back, to e5m2. It may write over them.
void round_rotated_back(Queue queue, const RotatedHeads& heads, const float* scale, const RoundedTo& to,
                        std::int64_t* maximum);

}  // namespace monomorph::cuda
