#pragma once
#include <monomorph/runtime/cuda/queue.hpp>

#include <cstddef>
#include <cstdint>

namespace monomorph::cuda {

/// A copy in the GPU's memory of n numbers of the host's, as they are when this is called; null of null. Kernels that
/// are put on the queue before the next hundred or so such copies may read it.
const std::int32_t* on_device(Queue queue, const std::int32_t* host, std::int64_t n);

/// Memory of the GPU for what a kernel hands to the next one, at a multiple of 256 bytes. It holds anything at first,
/// and until workspace() is called again: kernels of the queue take turns with it. It is there when a step
/// is made, as large as the plan has it (reserve_memory of memory.hpp); who asks for more gets it anew.
std::byte* workspace(Queue queue, std::int64_t bytes);

/// Bytes of the GPU's memory that the process keeps from one step to the next, and that the next one begins with: the
/// workspace, and what ids go through.
std::int64_t bytes_kept_for_steps();

}  // namespace monomorph::cuda
