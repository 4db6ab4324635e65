#pragma once
#include "numerics/schedule_recipes.hpp"

#include <array>
#include <tuple>
#include <type_traits>

/// What may differ between a training on one rank and the same on several: each axis a digit, a row of digits a case.
namespace monomorph::testing {

enum RankedAxis {
  ranked_model,
  ranked_strategy,
  ranked_number,  ///< 2 or 4 ranks; 4 or 8, in groups of 2 or 4, under a hybrid strategy
  ranked_checkpointing,
  ranked_accumulation,  ///< 1, 2 or 4 micro-batches
  ranked_precision,
  ranked_reduction,  ///< once per micro-batch or once per step
  n_ranked_axes
};
using RankedRow = std::array<std::uint8_t, n_ranked_axes>;

/// How many values each axis has; make_covering_set.py reads this line.
inline constexpr RankedRow ranked_levels{2, 6, 2, 6, 3, 7, 2};

/// Of a model that trains a hundred steps in a blink.
constexpr DecoderSpec shrunk(DecoderSpec model) {
  model.n_layers = 3, model.d_model = 16, model.context_length = 8;
  return model;
}
template <int> struct Shrunk : gpt2_like { static constexpr DecoderSpec model = shrunk(gpt2_like::model); };
template <> struct Shrunk<1> : llama_like { static constexpr DecoderSpec model = shrunk(llama_like::model); };

template <int group>
using RankedStrategies =
    std::tuple<sharding::Replicate, sharding::ShardOptimizer, sharding::ShardGradOp, sharding::FullShard,
               sharding::HybridShard<group>, sharding::HybridShardGradOp<group>>;
using RankedCheckpointing =
    std::tuple<checkpointing::KeepAll, checkpointing::EveryBlock, checkpointing::EveryNthBlock<2>,
               checkpointing::Fraction<1, 3>, checkpointing::RecomputeCheap,
               checkpointing::Selective<Recompute{.activation = true, .qkv = true, .attention = true}>>;
using RankedPrecisions =
    std::tuple<precision::Fp32, precision::Fp64, precision::Bf16Mixed, precision::Bf16MixedReducingBf16,
               precision::Bf16Pure, precision::Fp16Mixed, precision::Fp8Mixed>;
static_assert(ranked_levels[ranked_strategy] == std::tuple_size_v<RankedStrategies<2>>);
static_assert(ranked_levels[ranked_checkpointing] == std::tuple_size_v<RankedCheckpointing>);
static_assert(ranked_levels[ranked_precision] == std::tuple_size_v<RankedPrecisions>);

constexpr bool is_hybrid(const RankedRow& row) { return row[ranked_strategy] >= 4; }
constexpr int ranks_of(const RankedRow& row) { return (is_hybrid(row) ? 4 : 2) << row[ranked_number]; }
constexpr int accumulation_of(const RankedRow& row) { return 1 << row[ranked_accumulation]; }
/// What does not shape the recipe, as 0: rows that are alike in the rest share one.
constexpr RankedRow without_division(RankedRow row) {
  if (!is_hybrid(row)) row[ranked_number] = 0;
  row[ranked_accumulation] = 0;
  return row;
}

template <RankedRow row>
using RankedStrategy = std::tuple_element_t<row[ranked_strategy], RankedStrategies<2 << row[ranked_number]>>;

/// Of as many tokens as products in fp8 want at least.
constexpr DecoderSpec of_sixteen_tokens(DecoderSpec model) {
  model.context_length = 16;
  return model;
}

template <RankedRow row> struct RankedRecipe : Shrunk<row[ranked_model]> {
  static constexpr DecoderSpec model = of_sixteen_tokens(Shrunk<row[ranked_model]>::model);
  using sharding = std::conditional_t<row[ranked_reduction] == 0 || row[ranked_strategy] <= 1,  // SHARD-10
                                      RankedStrategy<row>, sharding::ReduceOncePerStep<RankedStrategy<row>>>;
  using checkpointing = std::tuple_element_t<row[ranked_checkpointing], RankedCheckpointing>;
  using precision = std::tuple_element_t<row[ranked_precision], RankedPrecisions>;
};

}  // namespace monomorph::testing
