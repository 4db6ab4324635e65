#pragma once
#include <limits>
#include <monomorph/plan/units.hpp>

namespace monomorph::plan {

/// Tokens whose logits exist at a time.
template <class R> constexpr std::int64_t loss_chunk_tokens(std::int64_t n_tokens) {
  return smaller_of(n_tokens, device_of<R>::loss_chunk_tokens(R::model.padded_vocab()));
}

/// Whether the checkpointing policy has what it keeps of some block wait in the host's memory.
template <class R>
inline constexpr bool offloads_some = [] {
  for (int block = 0; block < n_blocks<R>; ++block)
    if (offloads<typename R::checkpointing>(block)) return true;
  return false;
}();

/// What an encoder's head and its objective compute with. R = texts of a micro-batch, E features of an embedding.
struct EmbeddingSlices {
  Slice pooled_RD;      ///< what is projected, if anything; its gradient overwrites it
  Slice dprojected_RE;  ///< gradient of the projection in the compute dtype, if that is narrower than the embeddings'
  Slice raw_RE;         ///< before it is brought to length 1; its gradient overwrites it
  Slice gradient_RE;
  Slice all;  ///< those of all ranks, in order; behind the features of each stands 1, or 0 if there is no such text
  Slice workspace;  ///< the objective's
};

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
  EmbeddingSlices embeddings;  ///< of an encoder, which has neither logits nor the losses of a chunk
  Slice temporary;             ///< begin of what Block::Temporary places, shared by all blocks

  /// @param dp data-parallel ranks: an encoder has their embeddings, too
  constexpr explicit Activations(std::int64_t micro_batch, int dp = 1)
      : n_tokens(micro_batch * R::model.context_length) {
    const Shape MD{n_tokens, R::model.d_model};
    for (int i = 0; i < n_blocks<R>; ++i) {
      x_MD[i] = buffer.take(MD);
      kept_[i] = {buffer.elements, statistics.elements};
      Layout kept, scratch, kept_statistics, statistics_scratch;
      with_block<R>(i, [&](auto block) { place(block, i, kept, scratch, kept_statistics, statistics_scratch); });
      scratch_length_ = larger_of(scratch_length_, scratch.elements);
      statistics_scratch_length_ = larger_of(statistics_scratch_length_, statistics_scratch.elements);
      if (offloads_block(i) && kept.elements + kept_statistics.elements > 0) {
        n_offloaded_ = place_among_offloaded_[i] = n_offloaded_ + 1;
        slot_length_ = larger_of(slot_length_, kept.elements);
        statistics_slot_length_ = larger_of(statistics_slot_length_, kept_statistics.elements);
        kept_length_[i] = {kept.elements, kept_statistics.elements};
      } else {
        buffer.elements += kept.elements;
        statistics.elements += kept_statistics.elements;
      }
    }
    place_offloaded();
    x_MD.back() = buffer.take(MD);
    dx_MD = buffer.take(MD);
    head_in_MD = buffer.take(MD);
    if constexpr (is_encoder<R>)
      place_embeddings(micro_batch, dp);
    else
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
  /// Where what is kept of a block lies on the device, and where in the host's memory it waits: equal slices of the
  /// buffers of activations and of statistics.
  struct Offloaded {
    Slice activations, statistics, host_activations, host_statistics;
  };
  Layout host_buffer, host_statistics;
  /// Whether what is kept of a block has to make room for that of another one.
  constexpr bool moves(int i) const {
    return place_among_offloaded_[i] > 0 && place_among_offloaded_[i] <= n_offloaded_ - 2;
  }
  constexpr bool moves_some() const { return n_offloaded_ > 2; }
  constexpr const Offloaded& offloaded(int i) const { return offloaded_[i]; }
  /// The block whose place on the device block i takes in forward, and gives back in backward; -1 if there is none.
  constexpr int shares_place_with(int i) const {
    if (place_among_offloaded_[i] <= 2) return -1;
    int other = i;
    while (place_among_offloaded_[other] != place_among_offloaded_[i] - 2) --other;
    return other;
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
    place_norm_statistics();
    loss_C = statistics.take({1, CV.rows});
    logits_CV = statistics.take(CV);
    if (R::precision::compute_dtype != statistics_dtype(R::precision::compute_dtype)) dlogits_CV = buffer.take(CV);
  }
  constexpr void place_norm_statistics() {
    if (R::model.norm.kind == NormKind::layer_norm) head_mean_M = statistics.take({1, n_tokens});
    head_rstd_M = statistics.take({1, n_tokens});
  }
  constexpr void place_embeddings(std::int64_t micro_batch, int dp) {
    using Objective = objective_of<R>;
    const std::int64_t texts = micro_batch * Objective::texts_per_sample, E = R::model.embedding_width();
    place_norm_statistics();
    if (R::model.d_embedding.given) {
      embeddings.pooled_RD = buffer.take({texts, R::model.d_model});
      if (R::precision::compute_dtype != statistics_dtype(R::precision::compute_dtype))
        embeddings.dprojected_RE = buffer.take({texts, E});
    }
    embeddings.raw_RE = statistics.take({texts, E});
    embeddings.gradient_RE = statistics.take({texts, E});
    embeddings.all = statistics.take({dp * texts, E + 1});
    embeddings.workspace = statistics.take({1, Objective::workspace_elements(dp * micro_batch)});
  }
  static constexpr bool offloads_block(int i) {
    return backward_reaches<R>(unit_of_block(i)) && offloads<typename R::checkpointing>(i);
  }
  /// Two places on the device, which offloaded blocks take in turn, and in the host's memory one for each that moves.
  constexpr void place_offloaded() {
    if (n_offloaded_ == 0) return;
    Begin slots[2];
    for (Begin& slot : slots)
      slot = {buffer.take({1, slot_length_}).offset, statistics.take({1, statistics_slot_length_}).offset};
    for (int i = 0; i < n_blocks<R>; ++i) {
      if (place_among_offloaded_[i] == 0) continue;
      kept_[i] = slots[place_among_offloaded_[i] % 2];
      if (!moves(i)) continue;
      const Shape length{1, kept_length_[i].activations}, of_statistics{1, kept_length_[i].statistics};
      offloaded_[i] = {{kept_[i].activations, length},
                       {kept_[i].statistics, of_statistics},
                       host_buffer.take(length),
                       host_statistics.take(of_statistics)};
    }
  }

  std::array<Begin, n_blocks<R>> kept_{}, kept_length_{};
  std::array<int, n_blocks<R>> place_among_offloaded_{};  ///< from 1; 0: not offloaded
  std::array<Offloaded, n_blocks<R>> offloaded_{};
  int n_offloaded_ = 0;
  std::int64_t slot_length_ = 0, statistics_slot_length_ = 0;
  Begin scratch_;
  std::int64_t scratch_length_ = 0, statistics_scratch_length_ = 0;
};

}  // namespace monomorph::plan
