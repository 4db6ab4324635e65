#pragma once
#include <monomorph/runtime/cuda/queue.hpp>

#include <cstdint>

namespace monomorph::cuda {

/// Adds one to a number in pinned memory of the host, in its turn on the queue, so that the host sees how far the queue
/// has come without asking CUDA: an event that was recorded in a graph can't be asked.
void count_up(Queue queue, std::uint64_t* number);

}  // namespace monomorph::cuda
