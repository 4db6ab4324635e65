#pragma once
#include <monomorph/core/extremes.hpp>
#include <monomorph/policy/device_policy.hpp>

namespace monomorph::cpu {
struct Queue;  // runtime/machine/queue.hpp
}

namespace monomorph::device {

/// The processors of the machine. Kernels run where and when they are called.
struct Cpu {
  static constexpr std::string_view name = "Cpu";
  using Queue = cpu::Queue;
  using kernel_sets = EveryKernelSet;
  /// As many as fill 16 Mi elements, between 64 and 512, a multiple of 64.
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t padded_vocab) {
    return clamped((std::int64_t{1} << 24) / padded_vocab / 64 * 64, 64, 512);
  }
};

}  // namespace monomorph::device
