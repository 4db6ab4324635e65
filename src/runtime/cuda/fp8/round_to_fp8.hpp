#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cuda {

/// What becomes of a matrix x of R rows and C columns, both multiples of 16: its elements times a scale, rounded to
/// fp8, as they are and transposed. Either may be absent; the dtype of what is there says which fp8.
struct RoundedTo {
  View as_it_is_RC, transposed_CR;
};

/// One pass over x, of bf16 elements.
/// @param scale in the GPU's memory   @param maximum null, or what is joined with the greatest magnitude of x
void round_to_fp8(Queue queue, View x_RC, const float* scale, const RoundedTo& to, std::int64_t* maximum);

/// Of e4m3 elements; both contiguous, and of multiples of 16 rows and columns.
void transpose_fp8(Queue queue, View from_RC, View to_CR);

}  // namespace monomorph::cuda
