#pragma once
#include "runtime/distributed/exchange.hpp"

#include <algorithm>
#include <vector>

namespace monomorph::distributed {

/// A flat buffer as the ranks of a group share it: part r begins at r · part elements; the last ones may be shorter,
/// or empty.
struct Parts {
  View whole;
  std::int64_t part;
  View of(int r) const;
};

/// Every rank's part, in all ranks' whole. `own` is this rank's; it may be that part of whole itself.
class AllGather {
 public:
  void operator()(Exchange& exchange, View own, const Parts& parts);

 private:
  std::vector<View> sent_, received_;  // kept, so that nothing is allocated after the first time
};

/// Elements of every rank's part that are on their way at once.
/// @param bytes for what the other ranks of a group of `ranks` send of it: a quarter of plan::staging_bytes at least
constexpr std::int64_t piece_length(std::int64_t bytes, int ranks, DType dtype) {
  const std::int64_t slot = bytes / std::max(1, ranks - 1);
  return slot / size_of(dtype) / alignment_elements * alignment_elements;
}

/// own = (or +=) the sum over ranks of part group.own of their wholes; own may be that part of whole itself, which is
/// not kept. Every rank sends each other rank its part and adds up what it receives as kernels::pairwise_sum does, so
/// the bits depend on the ranks' order and not on their timing: half of an all-reduce's traffic, as of a ring's. In
/// pieces: while one is added up the next is on its way, and the memory for what is received stays small.
class ReduceScatter {
 public:
  /// @param staging plan::staging_bytes, where the exchange's memory is
  /// @param wire what is sent; the sum is of own's dtype
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
