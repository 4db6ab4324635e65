#pragma once
#include <monomorph/runtime/kernels/attention.hpp>

namespace monomorph::cuda {

/// The arguments of attention on a GPU. Forward knows no gradients.
struct AttentionCall {
  View q, k, v, out, lse_BNT, dout, dq, dk, dv;
  AttentionShape shape;
  AttentionMask mask;
  const std::int32_t* document_starts = nullptr;  ///< (B, T) in the host's memory, or none
};

}  // namespace monomorph::cuda
