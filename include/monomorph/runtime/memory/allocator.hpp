#pragma once
#include <cstddef>
#include <cstdint>
#include <monomorph/runtime/machine/queue.hpp>

namespace monomorph {

/// Where the memory of a device comes from.
struct Allocator {
  /// Zeroed, at a multiple of 64 bytes.   @throws UsageError [ARENA-02] if there is not so much
  std::byte* (*allocate)(std::int64_t bytes);
  void (*release)(std::byte* memory, std::int64_t bytes);
};

extern const Allocator main_memory;

namespace cpu {
/// Every device has this function: where the arena of a step lies that runs on its queue.
inline const Allocator& allocator(Queue) { return main_memory; }
/// Every device has this function: where what waits in the host's memory lies. Both the host and kernels reach it, and
/// copies between it and the device's memory run beside kernels.
inline const Allocator& host_allocator(Queue) { return main_memory; }
}  // namespace cpu

/// A device with a memory of its own may have this function, which takes what its kernels keep there beside the arena,
/// so that a step either has all its memory when it is made or is refused.
/// `planned_bytes` is plan::Memory::device_workspace, and `tokens` those of a micro-batch.
template <class Queue> concept ReservesMemory = requires(Queue queue) {
  reserve_memory(queue, std::int64_t{}, std::int64_t{});
};

}  // namespace monomorph
