#pragma once
#include "train/scaling/hardware.hpp"

#include <monomorph/plan/planned_recipe.hpp>

namespace monomorph::train {

/// The bytes of a rank on a GPU, whatever device the program is built for. A plan for a CPU has other chunks of logits
/// and other batches of matrices, and nothing of what kernels and driver keep beside the arena.
plan::Memory memory_on_gpu(const plan::PlannedRecipe& recipe, const plan::Strategy& strategy, int ranks,
                           std::int64_t micro_batch);

/// What must fit in the GPU's own memory.
std::int64_t bytes_on_gpu(const plan::Memory& memory);

/// The share of a GPU's memory that its driver and libraries and other small things leave to a plan.
inline constexpr double usable_memory = 0.95;
bool fits(const plan::Memory& memory, const GpuSpec& gpu);

}  // namespace monomorph::train
