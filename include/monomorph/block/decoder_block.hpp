#pragma once
#include <monomorph/block/composed_block.hpp>

namespace monomorph {

/// The block of a recipe that says nothing of its layers: pre-norm, with a dense MLP.
template <class R> struct DecoderBlock : ComposedBlock<R, BlockOrder::pre_norm, SelfAttention, DenseMlp> {};

/// Whether a tower has the sizes of R's model; its rotary positions may be others.
template <class R, class Tower>
inline constexpr bool has_sizes_of = trunk_of<Tower> == rotated(trunk_of<R>, trunk_of<Tower>.rotary);

namespace detail {
template <class Block> struct DecoderTower { using type = void; };
template <class Tower> struct DecoderTower<DecoderBlock<Tower>> { using type = Tower; };
}  // namespace detail

/// Whether the sizes of R's model, a mask and rotary positions say all that a block computes: it is DecoderBlock, with
/// no other shape.
template <class R, class Block>
inline constexpr bool is_decoder_block = [] {
  using Tower = typename detail::DecoderTower<Block>::type;
  if constexpr (!std::is_void_v<Tower>) return has_sizes_of<R, Tower>;
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
           has_sizes_of<R, typename Block::Tower>;
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
