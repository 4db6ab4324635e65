#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/host/before_run.hpp"

#include "runtime/cuda/host/event.hpp"
#include "runtime/cuda/host/planned_memory.hpp"
#include "runtime/cuda/host/run_inputs.hpp"

#include <monomorph/runtime/cuda/memory.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <array>
#include <cstring>
#include <monomorph/device/cuda.hpp>
#include <utility>

namespace monomorph::cuda {
namespace {

constexpr std::int64_t alignment = 256;
std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Memory of the GPU that grows as long as requests do.
class Scratch {
 public:
  std::byte* of(Queue queue, std::int64_t bytes) {
    if (bytes <= bytes_) return memory_;
    check(cudaStreamSynchronize(queue.stream), "computing");
    check(cudaFree(memory_), "freeing memory");
    memory_ = nullptr, bytes_ = 0;
    memory_ = take_gpu_memory(bytes, "the workspace of kernels");
    bytes_ = bytes;
    return memory_;
  }
  std::int64_t bytes() const { return bytes_; }
  /// Nothing is thrown, as something has failed already.
  void release(Queue queue) {
    cudaStreamSynchronize(queue.stream);
    cudaFree(std::exchange(memory_, nullptr));
    bytes_ = 0;
  }

 private:
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// A ring of pinned memory and its copy on the GPU, in four parts. A part is written again when the GPU has passed the
/// end of the part behind it, so that kernels that were put on the queue a while after a copy may still read it.
class Ring {
 public:
  const std::byte* copied(Queue queue, const void* host, std::int64_t bytes) {
    const std::int64_t size = aligned(bytes);
    reserve(queue, size, device::Cuda::id_part_bytes(size));
    if (used_ + size > part_bytes_) next_part(queue);
    const std::int64_t at = part_ * part_bytes_ + used_;
    used_ += size;
    std::memcpy(pinned_ + at, host, static_cast<std::size_t>(bytes));
    const KernelSpan span(Work::copies, "copy of ids", queue.stream);
    check(cudaMemcpyAsync(on_gpu_ + at, pinned_ + at, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice,
                          queue.stream),
          "copying ids to it");
    return on_gpu_ + at;
  }
  /// Parts of part_bytes, if those that there are have less than `bytes`.
  void reserve(Queue queue, std::int64_t bytes, std::int64_t part_bytes) {
    if (bytes > part_bytes_) grow(queue, part_bytes);
  }
  /// On the GPU.
  std::int64_t bytes() const { return n_parts * part_bytes_; }

 private:
  static constexpr int n_parts = device::Cuda::id_parts;

  void grow(Queue queue, std::int64_t part_bytes) {
    check(cudaStreamSynchronize(queue.stream), "computing");
    part_bytes_ = 0;  // what comes next may be refused
    check(cudaFreeHost(std::exchange(pinned_, nullptr)), "freeing memory");
    check(cudaFree(std::exchange(on_gpu_, nullptr)), "freeing memory");
    on_gpu_ = take_gpu_memory(n_parts * part_bytes, "token ids");
    try {
      pinned_ = take_host_memory(n_parts * part_bytes, "token ids");
    } catch (...) {
      cudaFree(std::exchange(on_gpu_, nullptr));
      throw;
    }
    for (cudaEvent_t& end : ends_)
      if (end == nullptr) end = new_event();
    part_bytes_ = part_bytes, part_ = 0, used_ = 0;
  }
  void next_part(Queue queue) {
    check(cudaEventRecord(ends_[static_cast<std::size_t>(part_)], queue.stream), "recording an event");
    part_ = (part_ + 1) % n_parts, used_ = 0;
    // An event that was never recorded has happened.
    check(cudaEventSynchronize(ends_[static_cast<std::size_t>((part_ + 1) % n_parts)]), "computing");
  }

  std::byte *pinned_ = nullptr, *on_gpu_ = nullptr;
  std::int64_t part_bytes_ = 0, used_ = 0;
  int part_ = 0;
  std::array<cudaEvent_t, n_parts> ends_{};
};

// Of the process: they live as long as it does, as CUDA may be gone before destructors of statics run.
Ring ring;
Scratch scratch;

}  // namespace

const std::int32_t* on_device(Queue queue, const std::int32_t* host, std::int64_t n) {
  if (host == nullptr || n == 0) return nullptr;
  const auto bytes = n * static_cast<std::int64_t>(sizeof(std::int32_t));
  if (is_recorded(queue)) return reinterpret_cast<const std::int32_t*>(copied_before_run(host, bytes));
  return reinterpret_cast<const std::int32_t*>(ring.copied(queue, host, bytes));
}

bool is_recorded(Queue) { return RunInputs::recorded() != nullptr; }
const std::byte* written_before_run(std::int64_t bytes, std::function<void(std::byte*)> write) {
  return RunInputs::recorded()->place(bytes, std::move(write));
}
const std::byte* copied_before_run(const void* host, std::int64_t bytes) {
  return RunInputs::recorded()->copied(host, bytes);
}

std::byte* workspace(Queue queue, std::int64_t bytes) { return scratch.of(queue, bytes); }

std::int64_t bytes_kept_for_steps() { return scratch.bytes() + ring.bytes(); }

void reserve_memory(Queue queue, std::int64_t planned_bytes, std::int64_t tokens) {
  using device::Cuda;
  const std::int64_t part_bytes = Cuda::id_part_bytes(Cuda::id_bytes * tokens), bytes_before = scratch.bytes();
  scratch.of(queue, Cuda::shared_workspace_bytes(planned_bytes, tokens));
  try {
    ring.reserve(queue, part_bytes, part_bytes);
  } catch (...) {
    // A step with a smaller micro-batch is planned without what this one has got.
    if (scratch.bytes() > bytes_before) scratch.release(queue);
    throw;
  }
}

}  // namespace monomorph::cuda
