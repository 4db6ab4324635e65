#pragma once
#include <cstddef>
#include <cstdint>

namespace monomorph::cuda {

/// Memory of the GPU that holds anything at first.   @param use ends "must be free for"; null of the plan's arena
/// @throws UsageError [GPU-05] there is not so much
std::byte* take_gpu_memory(std::int64_t bytes, const char* use);

/// The same of the host's, which stays in place for copies.   @throws UsageError [GPU-06] there is not so much
std::byte* take_host_memory(std::int64_t bytes, const char* use);

}  // namespace monomorph::cuda
