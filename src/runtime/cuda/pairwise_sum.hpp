#pragma once
#include "runtime/cuda/queue.hpp"

#include <monomorph/runtime/memory/view.hpp>

#include <span>

namespace monomorph::cuda {

/// cpu::pairwise_sum of 1 to most_terms views in a GPU's memory. Each has the dtype of the sum or, if the sum is fp32,
/// all that have not have one other of 16 bits: on the wire gradients may be narrower than a rank's own.
/// @throws Error [KERNEL-05] CUDA does not start it
void pairwise_sum(Queue queue, std::span<const View> parts, View sum, bool accumulate);

}  // namespace monomorph::cuda
