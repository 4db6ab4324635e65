#pragma once
#include <monomorph/plan/planned_recipe.hpp>

namespace monomorph::train {

/// The bytes of a rank on a GPU, whatever device the program is built for. A plan for a CPU has other chunks of logits,
/// and nothing of what kernels and driver keep beside the arena.
plan::Memory memory_on_gpu(const plan::PlannedRecipe& recipe, const plan::Strategy& strategy, int ranks,
                           std::int64_t micro_batch);

/// What must fit in the GPU's own memory.
std::int64_t bytes_on_gpu(const plan::Memory& memory);

}  // namespace monomorph::train
