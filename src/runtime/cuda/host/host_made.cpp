#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/memory.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>

/// What is computed once, when a run begins, by the host's kernels, so that it has the bits of a run on CPUs.
namespace monomorph::cuda {

void rotary_table(Queue queue, const RotarySpec& rotary, View cos, View sin) {
  HostBuffer for_cos, for_sin;
  const View host_cos = place_on_host(queue, cos, for_cos), host_sin = place_on_host(queue, sin, for_sin);
  cpu::rotary_table(cpu::Queue{}, rotary, host_cos, host_sin);
  copy_from_host(queue, host_cos, cos);
  copy_from_host(queue, host_sin, sin);
}

}  // namespace monomorph::cuda
