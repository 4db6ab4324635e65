#pragma once
#include "runtime/distributed/grouped_communicator.hpp"
#include "runtime/distributed/lane.hpp"
#include "runtime/distributed/peers_exchange.hpp"
#include "runtime/distributed/unit_reduction.hpp"

#include <monomorph/runtime/memory/arena.hpp>

namespace monomorph::distributed {

/// Collectives between processes on CPUs. Gathers and reductions have a thread each, so that neither waits for the
/// other; compute, gathers and reductions of one unit are ordered by the schedule's waits.
class CpuCommunicator final : public GroupedCommunicator {
 public:
  CpuCommunicator(std::unique_ptr<Peers> peers, int shards, DType wire);

 private:
  void begin_gather(int unit, View own, View whole) override;
  void begin_reduce(int unit, View whole, View own, Reduction reduction) override;
  void note_release(int) override {}  // compute is over when the call that computes returns
  void finish(int unit) override;
  void count_bytes(plan::Traffic& traffic) const override;
  void sum_words(std::span<std::int64_t> words) override;

  struct Started {
    std::uint64_t gather = 0, reduce = 0;
  };
  Started& started(int unit);

  std::unique_ptr<Peers> peers_;
  Arena staging_;
  PeersExchange gather_exchange_, shard_exchange_, replica_exchange_;
  AllGather all_gather_;
  UnitReduction reduction_;
  std::vector<Started> started_;  ///< by unit, the numbers of its last jobs
  std::vector<std::int64_t> others_words_;
  std::vector<Peers::Message> messages_;
  Lane gathers_, reductions_;  // last: their threads use the members above
};

}  // namespace monomorph::distributed
