#pragma once
#include <array>
#include <cstdint>

/// What may differ between trainings on several simulated GPUs: each axis a digit, a row of digits a recipe
/// (gpu_recipes.hpp). Each runs on any number of ranks.
namespace monomorph::testing {

enum GpuAxis { gpu_strategy, gpu_precision, gpu_checkpointing, gpu_optimizer, gpu_objective, n_gpu_axes };
using GpuRow = std::array<std::uint8_t, n_gpu_axes>;

/// How many values each axis has; make_covering_set.py reads this line.
inline constexpr GpuRow gpu_levels{7, 5, 4, 4, 4};

/// The sharding strategies, in the order of gpu_recipes.hpp.
enum GpuStrategy {
  gpu_replicate,
  gpu_shard_optimizer,
  gpu_shard_grad_op,
  gpu_full_shard,
  gpu_hybrid_shard,
  gpu_hybrid_shard_grad_op,
  gpu_host_parameters,
  n_gpu_strategies
};
static_assert(gpu_levels[gpu_strategy] == n_gpu_strategies);
/// Whether groups of two ranks are replicated, so that eight ranks show more than four.
constexpr bool has_replicas_of_groups(const GpuRow& row) {
  return row[gpu_strategy] == gpu_hybrid_shard || row[gpu_strategy] == gpu_hybrid_shard_grad_op;
}
/// How many micro-batches a step has on any number of ranks: as many as the most ranks that it is shown on.
constexpr int n_micro_batches(const GpuRow& row) { return has_replicas_of_groups(row) ? 8 : 4; }

}  // namespace monomorph::testing
