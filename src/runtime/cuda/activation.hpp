#pragma once
#include "runtime/cuda/queue.hpp"

#include <monomorph/runtime/memory/view.hpp>

/// As the kernels of these names on CPUs (runtime/kernels/activation.hpp), with their bits. All views of a call have
/// one dtype.   @throws Error [KERNEL-05] CUDA does not start it
namespace monomorph::cuda {

void relu_squared(Queue queue, View h_MF, View y_MF);
void relu_squared_backward(Queue queue, View h_MF, View dy_MF, View dh_MF);

}  // namespace monomorph::cuda
