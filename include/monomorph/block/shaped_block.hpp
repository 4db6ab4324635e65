#pragma once
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/spec/block_shape.hpp>

namespace monomorph {

/// R with a model of another shape.
template <class R, BlockShape shape_> struct WithShape : R {
  static constexpr BlockShape shape = shape_;
  static constexpr auto model = reshaped(trunk_of<R>, shape_);
};

/// Blocks of a shape of their own, where layers differ: `Run<Shaped<BlockShape{.d_ff = 4096}>::Block, n>`. Blocks that
/// are not DecoderBlock stand as second argument.
template <BlockShape shape, template <class Tower> class BlockOf = DecoderBlock> struct Shaped {
  template <class R> using Block = BlockOf<WithShape<R, shape>>;
};

}  // namespace monomorph
