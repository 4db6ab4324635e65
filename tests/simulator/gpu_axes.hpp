#pragma once
#include <array>
#include <cstdint>

/// What may differ between trainings on several simulated GPUs: each axis a digit, a row of digits a recipe
/// (gpu_recipes.hpp). Each runs on any number of ranks.
namespace monomorph::testing {

enum GpuAxis {
  gpu_strategy,
  gpu_precision,
  gpu_checkpointing,
  gpu_optimizer,
  gpu_objective,
  gpu_layers,  ///< dense, with low-rank adapters, with these beside a base in NF4, with experts
  n_gpu_axes
};
using GpuRow = std::array<std::uint8_t, n_gpu_axes>;

/// How many values each axis has; make_covering_set.py reads this line.
inline constexpr GpuRow gpu_levels{8, 5, 4, 5, 4, 4};
/// An axis, its value, another axis and its value that no recipe has together: experts, which are of gpu_layers, do not
/// compute in fp8, which is of gpu_precision. make_covering_set.py reads this line, too.
inline constexpr std::array<int, 4> gpu_impossible{1, 4, 5, 3};

/// The sharding strategies, in the order of gpu_recipes.hpp.
enum GpuStrategy {
  gpu_replicate,
  gpu_shard_optimizer,
  gpu_shard_grad_op,
  gpu_full_shard,
  gpu_hybrid_shard,
  gpu_hybrid_shard_grad_op,
  gpu_host_parameters,
  gpu_reduce_once_per_step,
  n_gpu_strategies
};
static_assert(gpu_levels[gpu_strategy] == n_gpu_strategies);
/// Whether a row comes on eight ranks: where groups of two ranks are replicated, as they then show more than four do,
/// and where ranks share all.
constexpr bool comes_on_eight_ranks(const GpuRow& row) {
  return row[gpu_strategy] == gpu_hybrid_shard || row[gpu_strategy] == gpu_hybrid_shard_grad_op ||
         row[gpu_strategy] == gpu_full_shard;
}
/// How many micro-batches a step has on any number of ranks: as many as the most ranks that it is shown on.
constexpr int n_micro_batches(const GpuRow& row) { return comes_on_eight_ranks(row) ? 8 : 4; }

}  // namespace monomorph::testing
