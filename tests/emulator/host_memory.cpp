#include "emulator/device/cuda_runtime.h"

#include <monomorph/runtime/cuda/memory.hpp>

#include <cstring>
#include <deque>
#include <vector>

#include "runtime/cuda/host/staging.hpp"

/// Kernels run when they are launched.
cudaError_t monomorph::emulator::start(cudaStream_t, dim3 grid, dim3 block, std::size_t dynamic_bytes,
                                       std::function<void()> thread) {
  run(grid, block, dynamic_bytes, thread);
  return cudaSuccess;
}

/// What a GPU's memory is on the emulator: that of this machine, and not zero at first.
namespace monomorph::cuda {

CUstream_st* compute_stream() { return nullptr; }

bool is_recorded(Queue) { return false; }
const std::byte* written_before_run(std::int64_t, std::function<void(std::byte*)>) { return nullptr; }
const std::byte* copied_before_run(const void*, std::int64_t) { return nullptr; }
/// A copy, as on a GPU: the caller's numbers may be gone when the kernel runs.
const std::int32_t* on_device(Queue, const std::int32_t* host, std::int64_t n) {
  if (host == nullptr || n == 0) return nullptr;
  constexpr std::size_t copies_at_once = 100;
  static std::deque<std::vector<std::int32_t>> copies;
  if (copies.size() == copies_at_once) copies.pop_front();
  return copies.emplace_back(host, host + n).data();
}

std::byte* workspace(Queue, std::int64_t bytes) {
  static std::vector<std::byte> memory;
  memory.assign(static_cast<std::size_t>(bytes) + 256, std::byte{0xFF});
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (256 - begin % 256) % 256;
}

// Of contiguous views, as nothing that runs here copies others.
View place_on_host(Queue, View view, HostBuffer& buffer) {
  buffer.resize(static_cast<std::size_t>(view.bytes()));
  return {buffer.data(), view.dtype, view.shape};
}
View copy_to_host(Queue queue, View view, HostBuffer& buffer) {
  const View place = place_on_host(queue, view, buffer);
  std::memcpy(place.data, view.data, buffer.size());
  return place;
}
void copy_from_host(Queue, View place, View view) {
  std::memcpy(view.data, place.data, static_cast<std::size_t>(view.bytes()));
}

}  // namespace monomorph::cuda
