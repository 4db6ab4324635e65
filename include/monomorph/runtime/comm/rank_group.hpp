#pragma once
#include <vector>

namespace monomorph {

/// Ranks of a world that work together, this one among them.
struct RankGroup {
  std::vector<int> ranks;  ///< numbers in the world
  int rank_in_group = 0;   ///< the index of this rank in `ranks`
  int size() const { return static_cast<int>(ranks.size()); }
  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

/// The ranks first, first + stride, …, n of them.
inline RankGroup group_of(int first, int stride, int n, int rank) {
  RankGroup group;
  for (int i = 0; i < n; ++i) group.ranks.push_back(first + i * stride);
  group.rank_in_group = (rank - first) / stride;
  return group;
}

/// A group of n members of another: the members first, first + stride, …
inline RankGroup part_of(const RankGroup& group, int first, int stride, int n) {
  RankGroup part = group_of(first, stride, n, group.rank_in_group);
  for (int& rank : part.ranks) rank = group.ranks[rank];
  return part;
}

/// The data-parallel ranks that hold one copy of the parameters together, this rank among them.
inline RankGroup shard_group(const RankGroup& data, int shards) {
  return part_of(data, data.rank_in_group / shards * shards, 1, shards);
}
/// The data-parallel ranks that hold the same shard of the parameters as this one.
inline RankGroup replica_group(const RankGroup& data, int shards) {
  return part_of(data, data.rank_in_group % shards, shards, data.size() / shards);
}

}  // namespace monomorph
