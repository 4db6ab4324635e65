#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cuda {

/// sums = (or +=) the sum of the rows, in an order that depends on the shape alone: the gradient of a bias, in the
/// dtype of gradients.   @throws Error [KERNEL-05] CUDA does not start it
void column_sums(Queue queue, const View& x_MN, const View& sums_N, bool accumulate);

}  // namespace monomorph::cuda
