#pragma once
#include "runtime/distributed/peers.hpp"

#include <monomorph/runtime/arena.hpp>

#include <vector>

namespace monomorph::distributed {

/// Ranks that gather or reduce together, this one among them.
struct RankGroup {
  std::vector<int> ranks;
  int own = 0;  ///< this rank is ranks[own]
  int size() const { return static_cast<int>(ranks.size()); }
};

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
  explicit AllGather(Peers& peers) : peers_(peers) {}
  void operator()(const RankGroup& group, Channel channel, View own, const Parts& parts);

 private:
  Peers& peers_;
  std::vector<Peers::Message> messages_;
};

/// own = (or +=) the sum over ranks of part group.own of their wholes; own may be that part of whole itself, which is
/// not kept. Every rank sends each other rank its part and adds up what it receives as kernels::pairwise_sum does, so
/// the bits depend on the ranks' order and not on their timing: half of an all-reduce's traffic, as of a ring's. In
/// pieces: while one is added up the next is on its way, and the memory for what is received stays small.
class ReduceScatter {
 public:
  /// @param wire what is sent; the sum is of own's dtype
  ReduceScatter(Peers& peers, DType wire);
  void operator()(const RankGroup& group, Channel channel, const Parts& parts, View own, bool accumulate);

 private:
  struct Piece {
    std::vector<View> received;  ///< by rank of the group; this rank's own is not here
    std::vector<Peers::Message> messages;
  };
  void exchange(const RankGroup& group, Channel channel, const Parts& parts, std::int64_t first, std::int64_t length,
                int half);
  View to_send(View x, int half, std::int64_t offset);

  Peers& peers_;
  DType wire_;
  Arena staging_;
  View received_[2], sent_[2];
  Piece pieces_[2];
  std::vector<View> terms_;
};

}  // namespace monomorph::distributed
