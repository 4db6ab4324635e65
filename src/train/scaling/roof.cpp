#include "train/scaling/roof.hpp"

namespace monomorph::train {
namespace {

/// LayerTime counts five touches of each activation that backward reads, of which two can't be saved.
constexpr Calibration nothing_lost{.products_on_ampere = 1,
                                   .products_on_hopper = 1,
                                   .products_on_hopper_hbm2e = 1,
                                   .products_on_blackwell = 1,
                                   .attention_forward_on_ampere = 1,
                                   .attention_backward_on_ampere = 1,
                                   .attention_forward_on_hopper = 1,
                                   .attention_backward_on_hopper = 1,
                                   .elementwise = 2.0 / 5,
                                   .waiting = 0,
                                   .copies = 0,
                                   .network = 1,
                                   .hop_seconds = 0,
                                   .shared_hop_seconds = 0};

}  // namespace

double roof_seconds(const plan::PlannedRecipe& recipe, const PlannedRun& run) {
  return predict(recipe, run, nothing_lost).step_seconds;
}

std::optional<double> roof_seconds(const plan::PlannedRecipe& recipe, const DeviceUse& use, LaunchedRanks ranks,
                                   std::int64_t micro_batch, std::int64_t micro_batches) {
  if (!use.free_memory_bytes || ranks.local < ranks.all) return std::nullopt;
  const GpuSpec* const gpu = find_gpu_of_driver(use.gpu, use.peak_memory_bytes + *use.free_memory_bytes);
  if (gpu == nullptr || peak_flops(*gpu, recipe.product_dtype) == 0) return std::nullopt;
  const Cluster cluster{.gpu = gpu, .network = nullptr, .gpus_per_node = ranks.local};
  return roof_seconds(recipe, {cluster, ranks.all, micro_batch, micro_batches, recipe.strategy(ranks.all)});
}

}  // namespace monomorph::train
