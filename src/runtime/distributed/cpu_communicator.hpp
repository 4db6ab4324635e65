#pragma once
#include "runtime/distributed/collectives.hpp"
#include "runtime/distributed/lane.hpp"

#include <monomorph/runtime/communicator.hpp>

#include <vector>

namespace monomorph::distributed {

/// Collectives between processes on CPUs. Gathers and reductions have a thread each, so that neither waits for the
/// other; compute, gathers and reductions of one unit are ordered by the schedule's waits.
class CpuCommunicator final : public Communicator {
 public:
  CpuCommunicator(std::unique_ptr<Peers> peers, int shards, DType wire);

  int rank() const override { return peers_->rank(); }
  int size() const override { return peers_->size(); }
  int shards() const override { return shard_group_.size(); }
  plan::Traffic traffic() const override;

 private:
  void start_gather(int unit, View own, View whole) override;
  void start_reduce(int unit, View whole, View own, Reduction reduction) override;
  void note_release(int) override {}  // compute is over when the call that computes returns
  void finish(int unit) override;
  void sum_words(std::span<std::int64_t> words) override;

  void reduce_now(View whole, View own, Reduction reduction);
  void note_reduction(View own, Reduction reduction);
  /// How the replicas of a shard share out its reduction.
  Parts replica_parts(View own) const;

  struct Started {
    std::uint64_t gather = 0, reduce = 0;
  };
  Started& started(int unit);

  std::unique_ptr<Peers> peers_;
  RankGroup shard_group_, replica_group_, all_;
  AllGather all_gather_, all_gather_of_sums_;
  DType wire_;
  ReduceScatter reduce_scatter_;
  std::vector<Started> started_;  ///< by unit, the last one's number in its lane
  std::vector<std::int64_t> others_words_;
  std::vector<Peers::Message> messages_;
  plan::Traffic traffic_;      ///< started so far
  Lane gathers_, reductions_;  // last: their threads use what stands above
};

}  // namespace monomorph::distributed
