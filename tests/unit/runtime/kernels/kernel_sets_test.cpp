#include <monomorph/device/cpu.hpp>
#include <monomorph/device/cuda.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/kernel_sets.hpp>

#include "support/catch.hpp"

namespace monomorph {

/// Compared by the compiler. The kernels for GPUs are declared in plain C++, so that this holds without nvcc.
TEST_CASE("devices say that they have the kernels that they have, and no others", "[kernel_sets]") {
  STATIC_REQUIRE(SaysItsKernels<device::Cpu>);
  STATIC_REQUIRE(SaysItsKernels<device::Cuda>);
}

namespace {
/// Says too little, and too much.
struct Modest : device::Cpu {
  using kernel_sets = KernelSets<kernels::Sgd>;
};
struct Boastful : device::Cuda {
  using kernel_sets = EveryKernelSet;
};
}  // namespace

TEST_CASE("a device that says another thing is noticed", "[kernel_sets]") {
  STATIC_REQUIRE_FALSE(SaysItsKernels<Modest>);
  STATIC_REQUIRE_FALSE(SaysItsKernels<Boastful>);
}

}  // namespace monomorph
