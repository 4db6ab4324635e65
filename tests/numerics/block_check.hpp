#pragma once
#include "support/reference_model.hpp"

#include <monomorph/model/decoder_block.hpp>

namespace monomorph::testing {

/// A block without its type, so that what is checked of it is compiled once.
struct BlockCase {
  ReferenceLayer layer;
  ParameterLayout parameters;
  std::int64_t activations, statistics, temporary_offset;  ///< elements
  void (*forward)(const TensorsOn<cpu::Queue>&);
  void (*backward)(const TensorsOn<cpu::Queue>&);
};

/// Output, gradient of the input and of every parameter against fp64 autograd, to 1e-9 of their norms.
void check_block(const BlockCase& block);

inline constexpr std::int64_t block_batch = 2;

/// Places what backward reads, none of which is recomputed here.
template <class Block> typename Block::Saved place_saved(Layout& activations, Layout& statistics) {
  Layout scratch;
  return {SavedPlacement{activations, scratch, Recompute::nothing},
          SavedPlacement{statistics, scratch, Recompute::nothing}, block_batch * Block::model.context_length};
}
template <class Block> typename Block::Saved placed() {
  Layout activations, statistics;
  return place_saved<Block>(activations, statistics);
}

template <class Block> BlockCase block_case(BlockOrder order = BlockOrder::pre_norm) {
  Layout activations, statistics;
  place_saved<Block>(activations, statistics);
  const std::int64_t temporary_offset = activations.elements;
  typename Block::Temporary(activations, block_batch * Block::model.context_length);
  BlockCase block{.layer = {.model = Block::model, .order = order},
                  .parameters = typename Block::Params(),
                  .activations = activations.elements,
                  .statistics = statistics.elements,
                  .temporary_offset = temporary_offset,
                  .forward = [](const TensorsOn<cpu::Queue>& t) { Block::forward(t, placed<Block>()); },
                  .backward = [](const TensorsOn<cpu::Queue>& t) { Block::backward(t, placed<Block>()); }};
  if constexpr (requires { Block::MlpPart::mixture; }) block.layer.mixture = Block::MlpPart::mixture;
  if constexpr (HasAdapters<typename Block::Tower>)
    block.layer.low_rank = finetuning_of<typename Block::Tower>::low_rank;
  return block;
}

}  // namespace monomorph::testing
