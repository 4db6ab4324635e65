#pragma once
#include <monomorph/model/decoder_block.hpp>

namespace monomorph::testing {

/// A decoder block without its type, so that what is checked of it is compiled once.
struct BlockCase {
  const ModelSpec* model;
  ParameterLayout parameters;
  std::int64_t activations, statistics, temporary_offset;  ///< elements
  void (*forward)(const BlockTensors&);
  void (*backward)(const BlockTensors&);
};

/// Output, gradient of the input and of every parameter against fp64 autograd, to 1e-9 of their norms.
void check_block(const BlockCase& block);

inline constexpr std::int64_t block_batch = 2;

/// Where the block keeps what backward reads: nothing is recomputed.
template <class R> struct KeptSaved {
  plan::Layout activations, statistics, scratch;
  typename DecoderBlock<R>::Saved saved{SavedPlacement{activations, scratch, Recompute::nothing},
                                        SavedPlacement{statistics, scratch, Recompute::nothing},
                                        block_batch * R::model.context_length};
};

template <class R> BlockCase block_case() {
  using Block = DecoderBlock<R>;
  KeptSaved<R> kept;
  const std::int64_t temporary_offset = kept.activations.elements;
  typename Block::Temporary(kept.activations, block_batch * R::model.context_length);
  return {.model = &R::model,
          .parameters = typename Block::Params(),
          .activations = kept.activations.elements,
          .statistics = kept.statistics.elements,
          .temporary_offset = temporary_offset,
          .forward = [](const BlockTensors& t) { Block::forward(t, KeptSaved<R>{}.saved); },
          .backward = [](const BlockTensors& t) { Block::backward(t, KeptSaved<R>{}.saved); }};
}

}  // namespace monomorph::testing
