#pragma once
#include <cstdint>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/machine/device_use.hpp>
#include <monomorph/runtime/memory/allocator.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// The GPU's memory, and how the host reaches it (runtime/memory/host_copy.hpp).
namespace monomorph::cuda {

/// @throws Error [GPU-02] what the queue was given has failed
void synchronize(Queue queue);

/// Memory of the GPU.   @throws UsageError [GPU-05] if there is not so much
const Allocator& allocator(Queue queue);

/// Memory of the host that stays where it is, so that copies run beside kernels. Kernels reach it, too, at the speed of
/// the bus.   @throws UsageError [GPU-06] if there is not so much
const Allocator& host_allocator(Queue queue);

/// What kernels of a step share, and through which ids come to them: the process has it from now on, where it would
/// take it at first use otherwise.   @throws UsageError [GPU-05], [GPU-06] if there is not so much; what it has got
/// goes
void reserve_memory(Queue queue, std::int64_t planned_bytes, std::int64_t tokens);

View copy_to_host(Queue queue, View view, HostBuffer& buffer);
View place_on_host(Queue queue, View view, HostBuffer& buffer);
void copy_from_host(Queue queue, View place, View view);

/// The rank's GPU. What is in use there counts whoever uses it.
DeviceUse device_use(Queue queue);

/// Calls f(i) for i in [0, n), one after the other: what it puts on the queue runs in that order.
template <class F> void side_by_side(Queue, std::int64_t n, F&& f) {
  for (std::int64_t i = 0; i < n; ++i) f(i);
}

}  // namespace monomorph::cuda
