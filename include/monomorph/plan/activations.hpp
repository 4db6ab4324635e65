#pragma once
#include <limits>
#include <monomorph/plan/units.hpp>

namespace monomorph::plan {

/// Whether the checkpointing policy has what it keeps of some block wait in the host's memory.
template <class R>
inline constexpr bool offloads_some = [] {
  for (int block = 0; block < n_blocks<R>; ++block)
    if (offloads<typename R::checkpointing>(block)) return true;
  return false;
}();

template <class R>
inline constexpr bool recomputes_some = [] {
  for (int block = 0; block < n_blocks<R>; ++block)
    if (R::checkpointing::recompute(block) != Recompute::nothing) return true;
  return false;
}();

/// What of a layer backward finds only after it has been computed again. What backward does not reach need not be
/// there after forward.
template <class R>
constexpr Recompute recomputed(int layer,
                               const CheckpointingValues& policy = checkpointing_values<typename R::checkpointing>) {
  if (!backward_reaches<R>(layer)) return Recompute::block;
  return is_block<R>(layer) ? policy.recompute(block_of_layer<R>(layer)) : Recompute::nothing;
}

/// Places what backward reads of a layer.   @param ranks data-parallel ones: a loss may compare what they make
template <class Layer>
constexpr typename Layer::Saved place_saved(SavedPlacement activations, SavedPlacement statistics,
                                            std::int64_t n_tokens, int ranks) {
  if constexpr (std::is_constructible_v<typename Layer::Saved, SavedPlacement, SavedPlacement, std::int64_t, int>)
    return {activations, statistics, n_tokens, ranks};
  else
    return {activations, statistics, n_tokens};
}

/// Of what Temporary places, for the layer with most: all layers share it.
template <class R> constexpr std::int64_t temporary_elements(std::int64_t n_tokens) {
  std::int64_t most = 0;
  for (int i = 0; i < n_layers<R>; ++i)
    with_layer<R>(i, [&](auto layer) {
      Layout layout;
      typename decltype(layer)::Temporary(layout, n_tokens);
      most = larger_of(most, layout.elements);
    });
  return most;
}

/// Everything whose size follows the micro-batch: slices of the activation buffer (compute dtype) and of the statistics
/// buffer (fp32 at least). M = micro_batch · T tokens.
template <class R> struct Activations {
  std::int64_t n_tokens;
  Layout buffer, statistics;
  /// Output of every layer but the last: the input of the next one. Without training, two places that layers take in
  /// turn.
  std::array<Slice, last_layer<R>> y_MD{};
  Slice dx_MD;      ///< gradient of the residual stream, updated in place by every layer; not present without training
  Slice temporary;  ///< begin of what Layer::Temporary places, shared by all layers

  /// @param ranks data-parallel ones: a loss may compare what they make
  /// @param policy which need not be the recipe's own, and which inference does not ask
  constexpr explicit Activations(std::int64_t micro_batch, int ranks = 1,
                                 const CheckpointingValues& policy = checkpointing_values<typename R::checkpointing>,
                                 Purpose purpose = Purpose::training)
      : Activations(micro_batch, ranks, sharding_values<typename R::sharding>(ranks), policy, purpose) {}
  /// @param sharding which need not be the recipe's own
  constexpr Activations(std::int64_t micro_batch, int ranks, const ShardingValues& sharding,
                        const CheckpointingValues& policy, Purpose purpose)
      : n_tokens(micro_batch * trunk_of<R>.context_length), ranks_(ranks) {
    const bool trains = purpose == Purpose::training;
    const Shape MD{n_tokens, trunk_of<R>.d_model};
    for (int i = 0; i < n_layers<R>; ++i) {
      recompute_[i] = trains ? recomputed<R>(i, policy) : Recompute::block;
      parameters_stay_[i] = trains && !in_slots(sharding) && !offloads_layer(i, policy);
      kept_[i] = {buffer.elements, statistics.elements};
      Layout kept, scratch, kept_statistics, statistics_scratch;
      with_layer<R>(i, [&](auto layer) { place(layer, i, kept, scratch, kept_statistics, statistics_scratch); });
      kept_length_[i] = {kept.elements, kept_statistics.elements};
      scratch_length_ = larger_of(scratch_length_, scratch.elements);
      statistics_scratch_length_ = larger_of(statistics_scratch_length_, statistics_scratch.elements);
      if (trains && offloads_layer(i, policy) && kept.elements + kept_statistics.elements > 0) {
        n_offloaded_ = place_among_offloaded_[i] = n_offloaded_ + 1;
        slot_length_ = larger_of(slot_length_, kept.elements);
        statistics_slot_length_ = larger_of(statistics_slot_length_, kept_statistics.elements);
      } else {
        buffer.elements += kept.elements;
        statistics.elements += kept_statistics.elements;
      }
      if (i < last_layer<R>) y_MD[i] = trains || i < 2 ? buffer.take(MD) : y_MD[i - 2];
    }
    place_offloaded();
    if (trains) dx_MD = buffer.take(MD);
    scratch_ = {buffer.elements, statistics.elements};
    buffer.elements += scratch_length_;
    statistics.elements += statistics_scratch_length_;
    temporary.offset = buffer.elements;
    buffer.elements += temporary_elements<R>(n_tokens);
  }

  template <class Layer> constexpr typename Layer::Saved saved(Layer layer, int i) const {
    Layout kept{kept_[i].activations}, scratch{scratch_.activations};
    Layout kept_statistics{kept_[i].statistics}, statistics_scratch{scratch_.statistics};
    return place(layer, i, kept, scratch, kept_statistics, statistics_scratch);
  }
  /// Slices of the two buffers: what is kept of a layer, and what all layers share that fill theirs again.
  struct InBuffers {
    Slice activations, statistics;
  };
  constexpr InBuffers kept(int i) const { return at(kept_[i], kept_length_[i]); }
  constexpr InBuffers scratch() const { return at(scratch_, {scratch_length_, statistics_scratch_length_}); }
  /// Where what is kept of a layer lies on the device, and where in the host's memory it waits: equal slices of the
  /// buffers of activations and of statistics.
  struct Offloaded {
    Slice activations, statistics, host_activations, host_statistics;
  };
  Layout host_buffer, host_statistics;
  /// Whether what is kept of a layer has to make room for that of another one.
  constexpr bool moves(int i) const {
    return place_among_offloaded_[i] > 0 && place_among_offloaded_[i] <= n_offloaded_ - 2;
  }
  constexpr bool moves_some() const { return n_offloaded_ > 2; }
  constexpr const Offloaded& offloaded(int i) const { return offloaded_[i]; }
  /// The layer whose place on the device layer i takes in forward, and gives back in backward; -1 if there is none.
  constexpr int shares_place_with(int i) const {
    if (place_among_offloaded_[i] <= 2) return -1;
    int other = i;
    while (place_among_offloaded_[other] != place_among_offloaded_[i] - 2) --other;
    return other;
  }

 private:
  struct Begin {
    std::int64_t activations = 0, statistics = 0;
  };
  static constexpr InBuffers at(const Begin& begin, const Begin& length) {
    return {{begin.activations, {1, length.activations}}, {begin.statistics, {1, length.statistics}}};
  }
  template <class Layer>
  constexpr typename Layer::Saved place(Layer, int i, Layout& kept, Layout& scratch, Layout& kept_statistics,
                                        Layout& statistics_scratch) const {
    return place_saved<Layer>({kept, scratch, recompute_[i], parameters_stay_[i]},
                              {kept_statistics, statistics_scratch, recompute_[i]}, n_tokens, ranks_);
  }
  static constexpr bool offloads_layer(int i, const CheckpointingValues& policy) {
    return is_block<R>(i) && backward_reaches<R>(i) && policy.offloads(block_of_layer<R>(i));
  }
  /// Two places on the device, which offloaded blocks take in turn, and in the host's memory one for each that moves.
  constexpr void place_offloaded() {
    if (n_offloaded_ == 0) return;
    Begin slots[2];
    for (Begin& slot : slots)
      slot = {buffer.take({1, slot_length_}).offset, statistics.take({1, statistics_slot_length_}).offset};
    for (int i = 0; i < n_layers<R>; ++i) {
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

  std::array<Recompute, n_layers<R>> recompute_{};
  std::array<bool, n_layers<R>> parameters_stay_{};
  std::array<Begin, n_layers<R>> kept_{}, kept_length_{};
  std::array<int, n_layers<R>> place_among_offloaded_{};  ///< from 1; 0: not offloaded
  std::array<Offloaded, n_layers<R>> offloaded_{};
  int ranks_;
  int n_offloaded_ = 0;
  std::int64_t slot_length_ = 0, statistics_slot_length_ = 0;
  Begin scratch_;
  std::int64_t scratch_length_ = 0, statistics_scratch_length_ = 0;
};

}  // namespace monomorph::plan
