#pragma once
#include <monomorph/block/decoder_block.hpp>

namespace monomorph {

/// R with other rotary positions.
template <class R, RotarySpec rotary_> struct WithRotary : R {
  static constexpr RotarySpec rotary = rotary_;
  static constexpr auto model = rotated(trunk_of<R>, rotary_);
};

/// Blocks with rotary positions of their own, where layers differ: `Run<Rotated<RotarySpec{.base = 1e6}>::Block, n>`.
/// Blocks that are not DecoderBlock stand as second argument.
template <RotarySpec rotary, template <class Tower> class BlockOf = DecoderBlock> struct Rotated {
  template <class R> using Block = BlockOf<WithRotary<R, rotary>>;
};

}  // namespace monomorph
