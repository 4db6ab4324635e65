#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace monomorph::cuda {
namespace {

/// Joins a magnitude with a maximum in the GPU's memory. Most are no greater than what others have joined before, and
/// are spared the queue of atomic operations: a number that is read too early makes one of these more, and no fewer.
__device__ inline void join_maximum(std::int64_t* to, std::uint32_t magnitude) {
  using Word = unsigned long long;
  const Word before = __ldcg(reinterpret_cast<const Word*>(to));
  if (magnitude > before) atomicMax(reinterpret_cast<Word*>(to), static_cast<Word>(magnitude));
}

}  // namespace
}  // namespace monomorph::cuda
