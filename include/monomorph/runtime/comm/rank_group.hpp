#pragma once
#include <vector>

namespace monomorph::distributed {

/// Ranks that gather or reduce together, this one among them.
struct RankGroup {
  std::vector<int> ranks;
  int rank_in_group = 0;  ///< the index of this rank in `ranks`
  int size() const { return static_cast<int>(ranks.size()); }
};

/// The ranks first, first + stride, …, n of them.
inline RankGroup group_of(int first, int stride, int n, int rank) {
  RankGroup group;
  for (int i = 0; i < n; ++i) group.ranks.push_back(first + i * stride);
  group.rank_in_group = (rank - first) / stride;
  return group;
}

/// The ranks that hold one copy of the parameters together.
inline RankGroup shard_group(int rank, int shards) { return group_of(rank / shards * shards, 1, shards, rank); }
/// The ranks that hold the same shard of the parameters.
inline RankGroup replica_group(int rank, int size, int shards) {
  return group_of(rank % shards, shards, size / shards, rank);
}

}  // namespace monomorph::distributed
