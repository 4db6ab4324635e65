#pragma once
#include <cstdint>
#include <monomorph/policy/device_policy.hpp>
#include <string_view>

namespace monomorph::cuda {
struct Queue;  // runtime/cuda/device.hpp has it, with its kernels
}

namespace monomorph::device {

/// A GPU, by CUDA: that of the rank's number on its machine. Kernels run behind the host, in the GPU's own memory.
struct Cuda {
  static constexpr std::string_view name = "Cuda";
  using Queue = cuda::Queue;
  static constexpr bool own_memory = true;
  /// So many that products fill the GPU, and few enough that what exists of the logits stays small beside the
  /// activations of a micro-batch.
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t) { return 8192; }
};
static_assert(DevicePolicy<Cuda>);

}  // namespace monomorph::device
