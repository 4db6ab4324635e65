#pragma once
#include <monomorph/runtime/comm/rank_group.hpp>

#include <monomorph/runtime/memory/view.hpp>

#include <span>

namespace monomorph::distributed {

/// Exchanges pieces of flat buffers between the ranks of a group, and computes with pieces where they lie: in the
/// machine's memory or in a GPU's. Collectives are written once, on top of this. Calls take effect in their order, but
/// an exchange runs from its `begin` to its `end`.
class AllToAll {
 public:
  explicit AllToAll(RankGroup group) : group_(std::move(group)) {}
  virtual ~AllToAll() = default;
  const RankGroup& group() const { return group_; }

  /// Sends sent[r] to rank r of the group and receives received[r] from it, for every r whose view is present. The
  /// memory must stay as it is until the end.   @param slot 0 or 1: two exchanges may run at the same time
  virtual void begin(int slot, std::span<const View> sent, std::span<const View> received) = 0;
  virtual void end(int slot) = 0;

  virtual void copy(View from, View to) = 0;  ///< with the dtype of `to`
  /// As cpu::pairwise_sum.
  virtual void pairwise_sum(std::span<const View> parts, View sum, bool accumulate) = 0;

 private:
  RankGroup group_;
};

}  // namespace monomorph::distributed
