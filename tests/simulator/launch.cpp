// Kernels, which the emulator runs, in their turn on a stream; and attention, which is that of our own kernels.
#include "emulator/device/cuda_runtime.h"
#include "runtime/cuda/attention/cudnn_attention.hpp"
#include "simulator/simulator.hpp"

#include <stdexcept>
#include <utility>

namespace monomorph {

cudaError_t emulator::start(cudaStream_t stream, dim3 grid, dim3 block, std::size_t dynamic_bytes,
                            std::function<void()> thread) {
  auto& gpu = simulator::Simulator::the();
  ++gpu.counts().kernels;
  if (gpu.refuses_kernel()) return cudaErrorMemoryAllocation;
  return static_cast<cudaError_t>(static_cast<int>(
      gpu.give(stream, "kernel", [=, thread = std::move(thread)] { run(grid, block, dynamic_bytes, thread); })));
}

/// cuDNN compiles kernels for a GPU, so it takes nothing here, and our own kernels compute what it would.
bool cuda::cudnn_takes(const AttentionCall&) { return false; }
void cuda::cudnn_attention(Queue, const AttentionCall&) { throw std::logic_error("there is no cuDNN here"); }
void cuda::cudnn_attention_backward(Queue queue, const AttentionCall& call) { cudnn_attention(queue, call); }

}  // namespace monomorph
