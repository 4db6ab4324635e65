#pragma once
#include <monomorph/plan/units.hpp>
#include <monomorph/runtime/memory/arena.hpp>

namespace monomorph::train {

/// The units' parameters, or their gradients, in the arena: what plan::UnitPlaces foresees.
template <int n_units> class UnitViews {
 public:
  /// @param part elements of each unit's shard   @param shard_index of this rank
  /// @param apart where shards lie that are no part of the whole
  UnitViews(const plan::UnitPlaces<n_units>& places, const std::array<std::int64_t, n_units>& part, int shard_index,
            Arena& arena, Arena& apart, DType dtype) {
    wholes_ = arena.take(places.wholes.elements, dtype);
    const View shards = apart.take(places.shards.elements, dtype);
    for (int u = 0; u < n_units; ++u) {
      whole_[u] = wholes_[places.whole[u]];
      if (places.apart[u].present())
        shard_[u] = shards[places.apart[u]];
      else if (whole_[u].present())
        shard_[u] = whole_[u].columns(shard_index * part[u], part[u]);
    }
  }
  View whole(int u) const { return whole_[u]; }
  View among_wholes(const Slice& place) const { return wholes_[place]; }
  View shard(int u) const { return shard_[u]; }  ///< this rank's

 private:
  View wholes_;
  std::array<View, n_units> whole_{}, shard_{};
};

}  // namespace monomorph::train
