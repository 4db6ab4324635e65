#pragma once
#include <cuda_runtime_api.h>

#include <optional>
#include <string>

namespace monomorph::cuda {

/// @param doing ends the sentence "the GPU failed while"
/// @throws UsageError [GPU-05] if memory was refused; Error [GPU-02] for any other status but success
void check(cudaError_t status, const char* doing);

/// What CUDA says where there is no GPU; absent if there is one.
std::optional<std::string> why_no_gpu();

}  // namespace monomorph::cuda
