#pragma once
#include <monomorph/block/composed_block.hpp>

namespace monomorph {

/// The block of a recipe that says nothing of its layers: pre-norm, with a dense MLP.
template <class R> struct DecoderBlock : ComposedBlock<R, BlockOrder::pre_norm, SelfAttention, DenseMlp> {};

namespace detail {
template <class Block> inline constexpr const DecoderSpec* decoder_model = nullptr;
template <class Tower> inline constexpr const DecoderSpec* decoder_model<DecoderBlock<Tower>> = &trunk_of<Tower>;
}  // namespace detail

/// Whether the sizes of R's model, and a mask, say all that a block computes: it is DecoderBlock, with no other shape.
template <class R, class Block>
inline constexpr bool is_decoder_block = [] {
  if constexpr (detail::decoder_model<Block> != nullptr) return *detail::decoder_model<Block> == trunk_of<R>;
  return false;
}();

/// Whether they do with the order of its norms: it is a dense block of no other shape, in any order.
template <class R, class Block>
inline constexpr bool is_plain_block = [] {
  if constexpr (is_decoder_block<R, Block>)
    return true;
  else if constexpr (requires {
                       typename Block::Tower;
                       Block::block_order;
                     })
    return std::is_same_v<Block, typename Composed<Block::block_order>::template Block<typename Block::Tower>> &&
           trunk_of<typename Block::Tower> == trunk_of<R>;
  else
    return false;
}();

/// R with another attention.
template <class R, AttentionPolicy Policy> struct WithAttention : R { using attention = Policy; };

/// Decoder blocks with an attention of their own, where layers differ: `Run<DecoderBlockWith<Policy>::Block, n>`. So
/// may other blocks, which then stand as second argument.
template <AttentionPolicy Policy, template <class Tower> class BlockOf = DecoderBlock> struct DecoderBlockWith {
  template <class R> using Block = BlockOf<WithAttention<R, Policy>>;
};

}  // namespace monomorph
