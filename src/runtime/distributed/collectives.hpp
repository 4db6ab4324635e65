#pragma once
#include "runtime/distributed/all_to_all.hpp"

#include <algorithm>
#include <vector>

namespace monomorph::distributed {

/// A flat buffer that is divided among the ranks of a group, in parts of equal length; the last ones may be shorter, or
/// empty.
struct ShardedBuffer {
  View unsharded;
  std::int64_t shard_length;
  View shard(int r) const;
};

/// Sends sent[r] to rank r of the group and receives received[r] from it, for every r whose view is present. What a
/// rank sends to itself is copied, unless it lies there already.
class Exchange {
 public:
  void operator()(AllToAll& all_to_all, std::span<const View> sent, std::span<const View> received);

 private:
  std::vector<View> sent_, received_;  // kept, so that nothing is allocated after the first time
};

/// Copies every rank's part into the buffers of all ranks. `shard` is this rank's part; it may lie at its place in the
/// buffer already.
class AllGather {
 public:
  void operator()(AllToAll& all_to_all, View shard, const ShardedBuffer& sharded);

 private:
  std::vector<View> sent_, received_;
  Exchange exchange_;
};

/// How many elements of every rank's part are exchanged at a time.
/// @param bytes memory for what the other ranks of a group of `ranks` send: a quarter of plan::staging_bytes at least
constexpr std::int64_t piece_length(std::int64_t bytes, int ranks, DType dtype) {
  const std::int64_t slot = bytes / std::max(1, ranks - 1);
  return slot / size_of(dtype) / alignment_elements * alignment_elements;
}

/// Sums the buffers of all ranks, and writes this rank's part of the sum to `shard`, or adds it there. `shard` may lie
/// at its place in the buffer, which is then overwritten. Every rank sends each other rank its part and adds up what it
/// receives as cpu::pairwise_sum does, so the bits depend on the order of the ranks and not on their timing. The
/// traffic is half of an all-reduce's, as a ring's is. Parts are exchanged in pieces: while one is added up the next is
/// received, so that little memory is needed for what is received.
class ReduceScatter {
 public:
  /// @param staging plan::staging_bytes, where the memory of the buffers is
  /// @param wire the dtype in which parts are sent; the sum has the dtype of `shard`
  ReduceScatter(View staging, DType wire);
  void operator()(AllToAll& all_to_all, const ShardedBuffer& sharded, View shard, bool accumulate);

 private:
  void begin(AllToAll& all_to_all, const ShardedBuffer& sharded, std::int64_t first, std::int64_t length, int half);
  View to_send(AllToAll& all_to_all, View x, int half, std::int64_t offset);

  DType wire_;
  View received_[2], sent_[2];
  std::vector<View> pieces_[2];  ///< received, by rank of the group; this rank's own is not here
  std::vector<View> sends_, terms_;
};

}  // namespace monomorph::distributed
