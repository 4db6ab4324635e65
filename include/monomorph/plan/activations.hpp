#pragma once
#include <limits>
#include <monomorph/plan/units.hpp>

namespace monomorph::plan {

/// Tokens whose logits exist at a time: as many as fill 16 Mi elements, between 64 and 512, a multiple of 64.
template <class R> constexpr std::int64_t loss_chunk_tokens(std::int64_t n_tokens) {
  const std::int64_t fitting = (std::int64_t{1} << 24) / R::model.padded_vocab() / 64 * 64;
  return smaller_of(n_tokens, clamped(fitting, 64, 512));
}

/// Everything whose size follows the micro-batch: slices of the activation buffer (compute dtype) and of the statistics
/// buffer (fp32 at least). M = micro_batch · T tokens.
template <class R> struct Activations {
  std::int64_t n_tokens;
  Layout buffer, statistics;
  std::array<Slice, n_blocks<R> + 1> x_MD{};  ///< input of every block; the last is the output of the stack
  Slice dx_MD;                                ///< gradient of the residual stream, updated in place by every block
  Slice head_in_MD;                           ///< the final norm's output; its gradient overwrites it, chunk by chunk
  Slice dlogits_CV;                           ///< only if the compute dtype is narrower than that of the logits
  Slice head_mean_M, head_rstd_M, loss_C, logits_CV;
  Slice temporary;  ///< begin of what Block::Temporary places, shared by all blocks

  constexpr explicit Activations(std::int64_t micro_batch) : n_tokens(micro_batch * R::model.context_length) {
    const Shape MD{n_tokens, R::model.d_model};
    for (int i = 0; i < n_blocks<R>; ++i) {
      x_MD[i] = buffer.take(MD);
      kept_[i] = {buffer.elements, statistics.elements};
      Layout scratch, statistics_scratch;
      with_block<R>(i, [&](auto block) { place(block, i, buffer, scratch, statistics, statistics_scratch); });
      scratch_length_ = larger_of(scratch_length_, scratch.elements);
      statistics_scratch_length_ = larger_of(statistics_scratch_length_, statistics_scratch.elements);
    }
    x_MD.back() = buffer.take(MD);
    dx_MD = buffer.take(MD);
    head_in_MD = buffer.take(MD);
    place_head();
    scratch_ = {buffer.elements, statistics.elements};
    buffer.elements += scratch_length_;
    statistics.elements += statistics_scratch_length_;
    temporary.offset = buffer.elements;
    Layout longest;
    for (int i = 0; i < n_blocks<R>; ++i)
      with_block<R>(i, [&](auto block) {
        Layout layout;
        typename decltype(block)::Temporary(layout, n_tokens);
        longest.elements = larger_of(longest.elements, layout.elements);
      });
    buffer.elements += longest.elements;
  }

  template <class Block> constexpr typename Block::Saved saved(Block block, int i) const {
    Layout kept{kept_[i].activations}, scratch{scratch_.activations};
    Layout kept_statistics{kept_[i].statistics}, statistics_scratch{scratch_.statistics};
    return place(block, i, kept, scratch, kept_statistics, statistics_scratch);
  }
  template <class Block> constexpr typename Block::Temporary temporaries(Block) const {
    Layout layout{temporary.offset};
    return {layout, n_tokens};
  }

 private:
  struct Begin {
    std::int64_t activations = 0, statistics = 0;
  };
  template <class Block>
  constexpr typename Block::Saved place(Block, int i, Layout& kept, Layout& scratch, Layout& kept_statistics,
                                        Layout& statistics_scratch) const {
    // What backward does not reach need not be there after forward.
    const Recompute recompute =
        backward_reaches<R>(unit_of_block(i)) ? R::checkpointing::recompute(i) : Recompute::block;
    return {SavedPlacement{kept, scratch, recompute}, SavedPlacement{kept_statistics, statistics_scratch, recompute},
            n_tokens};
  }
  constexpr void place_head() {
    const Shape CV{loss_chunk_tokens<R>(n_tokens), R::model.padded_vocab()};
    if (R::model.norm.kind == NormKind::layer_norm) head_mean_M = statistics.take({1, n_tokens});
    head_rstd_M = statistics.take({1, n_tokens});
    loss_C = statistics.take({1, CV.rows});
    logits_CV = statistics.take(CV);
    if (R::precision::compute_dtype != statistics_dtype(R::precision::compute_dtype)) dlogits_CV = buffer.take(CV);
  }
  std::array<Begin, n_blocks<R>> kept_{};
  Begin scratch_;
  std::int64_t scratch_length_ = 0, statistics_scratch_length_ = 0;
};

}  // namespace monomorph::plan
