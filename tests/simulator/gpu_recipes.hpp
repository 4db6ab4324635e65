#pragma once
#include "simulator/covering_set.hpp"
#include "simulator/gpu_axes.hpp"

#include <monomorph/sharding/hybrid_shard_grad_op.hpp>

#include <tuple>

/// The recipe of a row of digits.
namespace monomorph::testing {
namespace covering {

using GpuStrategies =
    std::tuple<sharding::Replicate, sharding::ShardOptimizer, sharding::ShardGradOp, sharding::FullShard,
               sharding::HybridShard<2>, sharding::HybridShardGradOp<2>, sharding::HostParameters<sharding::FullShard>,
               sharding::ReduceOncePerStep<sharding::FullShard>>;
/// Bf16Mixed comes twice: with rounded logits, where objectives have such, and with sums that are rounded between
/// ranks.
using GpuPrecisions =
    std::tuple<Fp32, NarrowLogits<Bf16Mixed>, Bf16Pure, Fp16Mixed, Fp8Mixed, Fp64, Bf16MixedReducingBf16>;
/// EveryNthBlock and Fraction each choose one of two blocks, and not the same one.
using GpuCheckpointing =
    std::tuple<KeepAll, EveryBlock, Selective<Recompute{.activation = true, .qkv = true, .attention = true}>,
               Offload<RecomputeCheap>, EveryNthBlock<2>, Fraction<1, 3>>;
/// Of parameters that are trained with adapters and without, and of a block's only some.
struct BlocksInGroups {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*.mlp.*",
                                               .lr_multiplier = 0.5,
                                               .weight_decay_multiplier = 2},
                                              {.parameters = "layers.*", .layer_decay = 0.8}};
};
using GpuOptimizers = std::tuple<AdamW, Averaged<Lion>, ByClass<Muon, AdamW>, HostState<Bf16State<Sgd>>,
                                 ByClass<Bf16Muon, Lion>, Grouped<AdamW, BlocksInGroups>>;
static_assert(gpu_levels[gpu_strategy] == std::tuple_size_v<GpuStrategies>);
static_assert(gpu_levels[gpu_precision] == std::tuple_size_v<GpuPrecisions>);
static_assert(gpu_levels[gpu_checkpointing] == std::tuple_size_v<GpuCheckpointing>);
static_assert(gpu_levels[gpu_optimizer] == std::tuple_size_v<GpuOptimizers>);

/// Parameters on the host ask for the optimiser's state there, too (SHARD-13).
template <class Strategy, class Optimizer>
using GpuOptimizer =
    std::conditional_t<parameter_space<Strategy> == MemorySpace::host && state_space<Optimizer> != MemorySpace::host,
                       HostState<Optimizer>, Optimizer>;

/// Each of the other family than the one before it. What waits on the host comes and goes from three blocks on.
template <int n_blocks> struct OfNextToken : InDocuments<Small<llama_like, n_blocks>> {
  using objective = objective::NextToken;
};
template <int n_blocks> struct OfMaskedTokens : Masked<Small<gpt2_like, n_blocks>> { using objective = MaskedTokens; };
template <int n_blocks> struct OfPreferences : Preferring<Small<llama_like, n_blocks>> {};
template <int n_blocks> struct OfTeacher : Taught<Small<gpt2_like, n_blocks>, Llama> {};
template <int n_blocks>
using GpuObjectives =
    std::tuple<OfNextToken<n_blocks>, OfMaskedTokens<n_blocks>, OfPreferences<n_blocks>, OfTeacher<n_blocks>>;
static_assert(gpu_levels[gpu_objective] == std::tuple_size_v<GpuObjectives<2>>);

/// In matrices that both families have.
template <class R> struct LowRankBeside : R {
  using finetuning = finetuning::LowRank<LowRankSpec{
      .rank = 4, .alpha = 6, .dropout = 0.2, .targets = {.key = true, .output = true, .up = true, .down = true}}>;
};
template <class R> using GpuLayers = std::tuple<R, LowRankBeside<R>, InNf4<LowRankBeside<R>>, WithExperts<R, dropless>>;

template <GpuRow row>
using DenseOfRow =
    OfShortRows<std::tuple_element_t<row[gpu_objective], GpuObjectives<row[gpu_checkpointing] == 3 ? 3 : 2>>>;
template <GpuRow row> using BaseOfRow = std::tuple_element_t<row[gpu_layers], GpuLayers<DenseOfRow<row>>>;
static_assert(gpu_levels[gpu_layers] == std::tuple_size_v<GpuLayers<Llama>>);

}  // namespace covering

/// Of rows as short as products in fp8 allow, to be quick.
template <GpuRow row> struct GpuRecipe : covering::BaseOfRow<row> {
  using sharding = std::tuple_element_t<row[gpu_strategy], covering::GpuStrategies>;
  using precision = std::tuple_element_t<row[gpu_precision], covering::GpuPrecisions>;
  using checkpointing = std::tuple_element_t<row[gpu_checkpointing], covering::GpuCheckpointing>;
  using optimizer = covering::GpuOptimizer<sharding, std::tuple_element_t<row[gpu_optimizer], covering::GpuOptimizers>>;
};

}  // namespace monomorph::testing
