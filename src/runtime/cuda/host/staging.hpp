#pragma once
#include <monomorph/runtime/cuda/queue.hpp>

#include <cstddef>
#include <cstdint>

namespace monomorph::cuda {

/// A copy in the GPU's memory of n numbers of the host's, as they are when this is called; null of null. Kernels that
/// are put on the queue before the next hundred or so such copies may read it.
const std::int32_t* on_device(Queue queue, const std::int32_t* host, std::int64_t n);

/// Memory of the GPU for what a kernel hands to the next one, at a multiple of 256 bytes. It holds anything at first,
/// and until workspace() is called again: kernels of the queue take turns with it. From the second step on it is never
/// allocated, as no step asks for more than the first did.
std::byte* workspace(Queue queue, std::int64_t bytes);

}  // namespace monomorph::cuda
