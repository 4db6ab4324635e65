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

/// Places what backward reads, none of which is recomputed here.
template <class R> typename DecoderBlock<R>::Saved place_saved(Layout& activations, Layout& statistics) {
  Layout scratch;
  return {SavedPlacement{activations, scratch, Recompute::nothing},
          SavedPlacement{statistics, scratch, Recompute::nothing}, block_batch * R::model.context_length};
}
template <class R> typename DecoderBlock<R>::Saved placed() {
  Layout activations, statistics;
  return place_saved<R>(activations, statistics);
}

template <class R> BlockCase block_case() {
  using Block = DecoderBlock<R>;
  Layout activations, statistics;
  place_saved<R>(activations, statistics);
  const std::int64_t temporary_offset = activations.elements;
  typename Block::Temporary(activations, block_batch * R::model.context_length);
  return {.model = &R::model,
          .parameters = typename Block::Params(),
          .activations = activations.elements,
          .statistics = statistics.elements,
          .temporary_offset = temporary_offset,
          .forward = [](const BlockTensors& t) { Block::forward(t, placed<R>()); },
          .backward = [](const BlockTensors& t) { Block::backward(t, placed<R>()); }};
}

}  // namespace monomorph::testing
