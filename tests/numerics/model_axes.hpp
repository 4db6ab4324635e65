#pragma once
#include <monomorph/run.hpp>

#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>

/// The axes of a recipe, each a digit: a row of digits is a recipe.
namespace monomorph::testing {

enum Axis {
  norm_kind,
  norm_bias,
  qk_norm,
  activation,
  position,
  key_heads,
  qkv_bias,
  out_bias,
  mlp_bias,
  tied,
  vocab_multiple,
  attention,
  stream_dropout,
  head_dim,
  hidden_width,
  scheme,
  automatic_std,
  checkpointing_axis,
  sharding_axis,
  documents_axis,
  n_axes
};
using Row = std::array<std::uint8_t, n_axes>;

/// How many values each axis has; make_covering_set.py reads this line.
inline constexpr Row axis_levels{2, 2, 2, 4, 4, 3, 2, 2, 2, 2, 2, 3, 2, 2, 2, 4, 2, 5, 5, 2};

inline constexpr DecoderSpec small_model{
    .vocab_size = 50, .n_layers = 3, .n_heads = 4, .d_model = 32, .context_length = 21, .n_kv_heads = 4};
inline constexpr RotarySpec scaled_rotary{.base = 10'000, .scaling = {.factor = 4, .original_context = 64}};

constexpr DecoderSpec model_of(const Row& row) {
  DecoderSpec model = small_model;
  model.norm = {.kind = NormKind{row[norm_kind]}, .epsilon = 1e-3, .bias = row[norm_bias] == 1};
  model.qk_norm = row[qk_norm] == 1;
  model.activation = Activation{row[activation]};
  model.position = row[position] == 0 ? Position::learned : row[position] == 3 ? Position::none : Position::rotary;
  if (row[position] == 2) model.rotary = scaled_rotary;
  model.n_kv_heads.value >>= row[key_heads];  // 4, 2 or 1
  model.bias = {.qkv = row[qkv_bias] == 1, .attention_out = row[out_bias] == 1, .mlp = row[mlp_bias] == 1};
  model.tied_head = row[tied] == 1;
  model.vocab_multiple = row[vocab_multiple] == 1 ? 64 : 1;
  if (row[attention] > 0) model.attention_kernel = AttentionKernel::reference;
  if (row[attention] > 1) model.dropout.attention = 0.2;
  if (row[stream_dropout] == 1) model.dropout.embedding = 0.1, model.dropout.residual = 0.3;
  if (row[head_dim] == 1) model.head_dim.value = 12, model.head_dim.given = true;
  if (row[hidden_width] == 1) model.d_ff.value = 40, model.d_ff.given = true;
  model.initialization.scheme = InitializationScheme{row[scheme]};
  if (row[automatic_std] == 1) model.initialization.std = {};
  return model;
}

using CheckpointingPolicies =
    std::tuple<checkpointing::KeepAll, checkpointing::EveryBlock, checkpointing::EveryNthBlock<2>,
               checkpointing::Fraction<1, 3>, checkpointing::RecomputeCheap>;
using ShardingPolicies = std::tuple<sharding::Replicate, sharding::ShardGradOp, sharding::FullShard,
                                    sharding::HybridShard<2>, sharding::HybridShardGradOp<2>>;
using AttentionPolicies = std::tuple<monomorph::attention::Causal, monomorph::attention::WithinDocuments>;

/// A recipe in fp64 from a row of digits; `Rows::at(i)` is a constant.
template <class Rows, int i> struct RowRecipe {
  static constexpr Row row = Rows::at(i);
  static constexpr DecoderSpec model = model_of(row);
  using sharding = std::tuple_element_t<row[sharding_axis], ShardingPolicies>;
  using precision = precision::Fp64;
  using checkpointing = std::tuple_element_t<row[checkpointing_axis], CheckpointingPolicies>;
  using optimizer = optim::AdamW;
  using attention = std::tuple_element_t<row[documents_axis], AttentionPolicies>;
};

}  // namespace monomorph::testing
