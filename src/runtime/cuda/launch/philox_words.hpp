#pragma once
#include "runtime/kernels/host_device.hpp"

#include <monomorph/core/philox.hpp>

#include <cstdint>

namespace monomorph::cuda {
namespace {

/// The four random words of a counter.
struct PhiloxWords {
  std::uint32_t of[4];
};

/// random::philox as kernels compute it: with all rounds in registers.
__device__ inline PhiloxWords philox_words(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2, std::uint32_t c3,
                                           std::uint32_t key0, std::uint32_t key1) {
  PhiloxWords w{{c0, c1, c2, c3}};
  MONOMORPH_UNROLL
  for (std::uint32_t round = 0; round < random::philox_rounds; ++round)
    random::philox_round(w.of[0], w.of[1], w.of[2], w.of[3], key0, key1, round);
  return w;
}

}  // namespace
}  // namespace monomorph::cuda
