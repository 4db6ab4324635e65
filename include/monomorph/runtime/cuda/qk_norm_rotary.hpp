#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/kernels/qk_norm_rotary.hpp>

namespace monomorph::cuda {

/// In one kernel where heads begin and end as accesses of 16 bytes do and a warp holds one, otherwise in three; the
/// bits are the same.
void qk_norm_rotary(Queue queue, NormKind kind, const QkNormRotary& of);

}  // namespace monomorph::cuda
