#pragma once
#include <monomorph/runtime/comm/rank_group.hpp>

#include <monomorph/runtime/comm/checked_communicator.hpp>
#include <monomorph/runtime/comm/communicator.hpp>

namespace monomorph::distributed {

plan::Traffic difference(const plan::Traffic& all, const plan::Traffic& before);

/// What communicators have in common whatever memory they work in: the groups of ranks, which calls need no collective,
/// and the count of collectives.
class GroupedCommunicator : public Communicator, public CheckedCommunicator {
 public:
  int rank() const final { return group_.rank_in_group; }
  int size() const final { return group_.size(); }
  int shards() const final { return shard_group_.size(); }
  plan::Traffic traffic() const final;

 protected:
  GroupedCommunicator(RankGroup group, int shards);
  /// Counts what was sent without a call, `times` times.
  void count_again(const plan::Traffic& traffic, int times);
  const RankGroup& all_ranks() const { return group_; }
  const RankGroup& shard_ranks() const { return shard_group_; }
  const RankGroup& replica_ranks() const { return replica_group_; }

 private:
  void start_all_gather(std::span<const UnitGather> units) final;
  void start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) final;
  void start_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) final;
  virtual void begin_all_gather(std::span<const UnitGather> units) = 0;
  virtual void begin_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) = 0;
  virtual void begin_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) = 0;
  void gather_parts(View all) final;
  virtual void gather_all_parts(View all) = 0;
  virtual void count_bytes(plan::Traffic& traffic) const = 0;  ///< that were sent

  RankGroup group_, shard_group_, replica_group_;
  plan::Traffic started_;  ///< collectives
  plan::Traffic again_;    ///< what was sent without a call
};

}  // namespace monomorph::distributed
