#pragma once
#include <array>
#include <cstdint>

/// What may differ between trainings on several simulated GPUs: each axis a digit, a row of digits a recipe
/// (gpu_recipes.hpp). Each runs on any number of ranks.
namespace monomorph::testing {

enum GpuAxis { gpu_strategy, gpu_precision, gpu_checkpointing, gpu_optimizer, gpu_objective, n_gpu_axes };
using GpuRow = std::array<std::uint8_t, n_gpu_axes>;

/// How many values each axis has; make_covering_set.py reads this line.
inline constexpr GpuRow gpu_levels{4, 5, 4, 4, 4};

}  // namespace monomorph::testing
