#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cuda {

/// y = x / max(|x|, least_norm) of a whole matrix, contiguous as y is, which is fp32, fp64 or bf16. The norm is found,
/// and stays, on the GPU, and has the CPU's bits: it is the root of the exact sum of squares.
void divide_by_norm(Queue queue, View x, double least_norm, View y);

}  // namespace monomorph::cuda
