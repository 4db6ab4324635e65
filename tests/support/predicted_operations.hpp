#pragma once
#include "train/scaling/step_prediction.hpp"

#include <limits>

namespace monomorph::testing {

/// The floating-point operations of a token that a prediction of a step goes by: its seconds on a rank alone, whose GPU
/// computes at its peak and moves bytes in no time.
inline double predicted_operations(const plan::PlannedRecipe& recipe, std::int64_t micro_batch,
                                   std::int64_t micro_batches) {
  using namespace train;
  static constexpr Calibration nothing_moves{.products_on_ampere = 1,
                                             .products_on_hopper = 1,
                                             .products_on_hopper_hbm2e = 1,
                                             .attention_forward_on_hopper = 1,
                                             .attention_backward_on_hopper = 1,
                                             .network = 1};
  GpuSpec gpu = *find_gpu("h100");
  gpu.memory_bandwidth = gpu.host_bandwidth = std::numeric_limits<double>::infinity();
  const PlannedRun run{{&gpu, nullptr, 8}, 1, micro_batch, micro_batches, recipe.strategy(1)};
  const double tokens = static_cast<double>(micro_batches * micro_batch * recipe.trunk->context_length);
  return predict(recipe, run, nothing_moves).step_seconds * peak_flops(gpu, recipe.compute_dtype) / tokens;
}

}  // namespace monomorph::testing
