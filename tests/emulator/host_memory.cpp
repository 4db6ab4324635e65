#include "runtime/cuda/staging.hpp"

#include <cstring>
#include <vector>

/// What a GPU's memory is on the emulator: that of this machine, and not zero at first.
namespace monomorph::cuda {

CUstream_st* compute_stream() { return nullptr; }

const std::int32_t* on_device(Queue, const std::int32_t* host, std::int64_t) { return host; }

std::byte* workspace(Queue, std::int64_t bytes) {
  static std::vector<std::byte> memory;
  memory.assign(static_cast<std::size_t>(bytes) + 256, std::byte{0xFF});
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (256 - begin % 256) % 256;
}

}  // namespace monomorph::cuda
