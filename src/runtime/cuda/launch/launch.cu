#include "runtime/cuda/launch/launch.hpp"

#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph::cuda {

void check_launched(cudaError_t status) {
  if (status == cudaSuccess) return;
  throw Error("KERNEL-05", std::string("the GPU does not start a kernel (") + cudaGetErrorString(status) +
                               "); see the driver's messages on that machine");
}

}  // namespace monomorph::cuda
