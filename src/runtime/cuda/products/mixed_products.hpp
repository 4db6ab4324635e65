#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// The backward products of cuda/kernels.hpp where dy is fp32 and the other factor has 16 bits, of which cuBLASLt has
/// no product: those of a router, whose scores are statistics. They are few beside those of the experts.
namespace monomorph::cuda {

void mixed_backward_input(Queue queue, const View& dy_MN, const View& w_NK, const View& dx_MK, bool accumulate);
/// @param dw contiguous
void mixed_backward_weight(Queue queue, const View& dy_MN, const View& x_MK, const View& dw_NK, bool accumulate);

}  // namespace monomorph::cuda
