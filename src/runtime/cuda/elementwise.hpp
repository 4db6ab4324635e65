#pragma once
#include "runtime/cuda/queue.hpp"

#include <monomorph/runtime/memory/view.hpp>

/// As the kernels of these names on CPUs (runtime/kernels/elementwise.hpp), with their bits; a NaN stays one.
/// @throws Error [KERNEL-05] CUDA does not start it
namespace monomorph::cuda {

void copy(Queue queue, View from, View to);
void zero(Queue queue, View x);
void add(Queue queue, View x, View y);

}  // namespace monomorph::cuda
