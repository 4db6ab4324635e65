#pragma once
#include "runtime/distributed/rank_group.hpp"

#include <monomorph/runtime/memory/view.hpp>

#include <span>

namespace monomorph::distributed {

/// How the ranks of a group hand each other pieces of flat buffers, and what computes with pieces where they lie: in
/// the machine's memory or in a GPU's. Collectives are written once, over this. What is called here takes place in the
/// order of the calls, but for what is on its way between `begin` and `end`.
class Exchange {
 public:
  explicit Exchange(RankGroup group) : group_(std::move(group)) {}
  virtual ~Exchange() = default;
  const RankGroup& group() const { return group_; }

  /// Sends sent[r] to rank r of the group and receives received[r] from it, for every r whose view is present. The
  /// memory must stay as it is until the end.   @param slot 0 or 1: so many may be on their way at once
  virtual void begin(int slot, std::span<const View> sent, std::span<const View> received) = 0;
  virtual void end(int slot) = 0;

  virtual void copy(View from, View to) = 0;  ///< with the dtype of `to`
  /// As kernels::pairwise_sum.
  virtual void pairwise_sum(std::span<const View> parts, View sum, bool accumulate) = 0;

 private:
  RankGroup group_;
};

}  // namespace monomorph::distributed
