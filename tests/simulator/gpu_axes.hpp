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
inline constexpr GpuRow gpu_levels{8, 7, 6, 6, 4, 4};
/// Each an axis, its value, a later axis and its value that no recipe has together, in their order.
/// make_covering_set.py reads this line, too. State is kept in bf16 beside masters of fp32 (OPTIM-01), logits are not
/// rounded where the objective compares whole texts or has a teacher (PREC-14), and experts do not compute in fp8
/// (PREC-10).
inline constexpr std::array<int, 4> gpu_impossible[] = {{1, 5, 3, 3}, {1, 1, 4, 2}, {1, 1, 4, 3}, {1, 4, 5, 3}};

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
/// The precisions, in the order of gpu_recipes.hpp.
enum GpuPrecision {
  gpu_fp32,
  gpu_bf16_with_narrow_logits,
  gpu_bf16_pure,
  gpu_fp16,
  gpu_fp8,
  gpu_fp64,
  gpu_bf16_reducing_bf16,
  n_gpu_precisions
};
static_assert(gpu_levels[gpu_precision] == n_gpu_precisions);
/// Whether gradients are rounded on their way between ranks, so that other numbers of ranks have other bits.
constexpr bool rounds_between_ranks(const GpuRow& row) { return row[gpu_precision] == gpu_bf16_reducing_bf16; }
/// Whether a row comes on eight ranks: where groups of two ranks are replicated, as they then show more than four do,
/// and where ranks share all.
constexpr bool comes_on_eight_ranks(const GpuRow& row) {
  return row[gpu_strategy] == gpu_hybrid_shard || row[gpu_strategy] == gpu_hybrid_shard_grad_op ||
         row[gpu_strategy] == gpu_full_shard;
}
/// How many micro-batches a step has on any number of ranks: as many as the most ranks that it is shown on.
constexpr int n_micro_batches(const GpuRow& row) { return comes_on_eight_ranks(row) ? 8 : 4; }

}  // namespace monomorph::testing
