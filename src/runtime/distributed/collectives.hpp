#pragma once
#include "runtime/distributed/exchange.hpp"

#include <algorithm>
#include <vector>

namespace monomorph::distributed {

/// A flat buffer that is divided among the ranks of a group, in parts of equal length; the last ones may be shorter, or
/// empty.
struct Parts {
  View whole;
  std::int64_t part;
  View of(int r) const;
};

/// Copies every rank's part into the buffers of all ranks. `own` is this rank's part; it may lie at its place in the
/// buffer already.
class AllGather {
 public:
  void operator()(Exchange& exchange, View own, const Parts& parts);

 private:
  std::vector<View> sent_, received_;  // kept, so that nothing is allocated after the first time
};

/// How many elements of every rank's part are exchanged at a time.
/// @param bytes memory for what the other ranks of a group of `ranks` send: a quarter of plan::staging_bytes at least
constexpr std::int64_t piece_length(std::int64_t bytes, int ranks, DType dtype) {
  const std::int64_t slot = bytes / std::max(1, ranks - 1);
  return slot / size_of(dtype) / alignment_elements * alignment_elements;
}

/// Sums the buffers of all ranks, and writes this rank's part of the sum to `own`, or adds it there. `own` may lie at
/// its place in the buffer, which is then overwritten. Every rank sends each other rank its part and adds up what it
/// receives as kernels::pairwise_sum does, so the bits depend on the order of the ranks and not on their timing. The
/// traffic is half of an all-reduce's, as a ring's is. Parts are exchanged in pieces: while one is added up the next is
/// received, so that little memory is needed for what is received.
class ReduceScatter {
 public:
  /// @param staging plan::staging_bytes, where the exchange's memory is
  /// @param wire the dtype in which parts are sent; the sum has the dtype of `own`
  ReduceScatter(View staging, DType wire);
  void operator()(Exchange& exchange, const Parts& parts, View own, bool accumulate);

 private:
  void begin(Exchange& exchange, const Parts& parts, std::int64_t first, std::int64_t length, int half);
  View to_send(Exchange& exchange, View x, int half, std::int64_t offset);

  DType wire_;
  View received_[2], sent_[2];
  std::vector<View> pieces_[2];  ///< received, by rank of the group; this rank's own is not here
  std::vector<View> sends_, terms_;
};

}  // namespace monomorph::distributed
