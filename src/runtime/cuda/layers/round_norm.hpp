#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>

namespace monomorph::cuda {

/// A norm of bf16 elements whose output is rounded to e4m3 and stored nowhere else. Rows, weights and biases are whole
/// accesses of 16 bytes.
/// @param scale in the GPU's memory   @param to contiguous
/// @param maximum null, or what is joined with the greatest magnitude of the output
void round_norm(Queue queue, const NormedInput& norm, const float* scale, View to_MK, std::int64_t* maximum);

}  // namespace monomorph::cuda
