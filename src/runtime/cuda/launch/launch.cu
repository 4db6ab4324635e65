#include "runtime/cuda/launch/launch.hpp"

#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph::cuda {

void check_launched(cudaError_t status) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation)  // the code of a kernel comes to the GPU when it is first started
    throw UsageError("GPU-05", std::string("the GPU has no memory left for the code of a kernel (") +
                                   cudaGetErrorString(status) + "); see who else uses it with nvidia-smi");
  throw Error("KERNEL-05", std::string("the GPU does not start a kernel (") + cudaGetErrorString(status) +
                               "); see the driver's messages on that machine");
}

}  // namespace monomorph::cuda
