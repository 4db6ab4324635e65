#pragma once
#include "runtime/distributed/cpu_all_to_all.hpp"
#include "runtime/distributed/grouped_communicator.hpp"
#include "runtime/distributed/unit_reduction.hpp"

#include <monomorph/runtime/machine/background_queue.hpp>
#include <monomorph/runtime/memory/arena.hpp>

namespace monomorph::distributed {

/// Collectives between processes on CPUs. Gathers and reductions have a thread each, so that neither waits for the
/// other; compute, gathers and reductions of one unit are ordered by the schedule's waits.
class CpuCommunicator final : public GroupedCommunicator {
 public:
  /// @param group of the ranks that the messages reach
  CpuCommunicator(std::unique_ptr<PointToPoint> point_to_point, RankGroup group, int shards, DType wire);
  MemoryAccess memory() const override { return {}; }
  void exchange(int other, View sent, View received) override;

 private:
  void begin_all_gather(std::span<const UnitGather> units) override;
  void begin_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) override;
  void begin_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) override;
  void note_release(int) override {}  // compute is over when the call that computes returns
  void finish(int unit) override;
  void count_bytes(plan::Traffic& traffic) const override;
  void all_reduce_words(std::span<std::int64_t> words) override;
  void start_all_reduce_max(View words) override;
  void exchange_words(std::span<const std::int64_t> words, auto&& join);
  void gather_all_parts(View all) override;
  /// Waits for messages_.
  void finish_messages();

  struct Started {
    std::uint64_t all_gather = 0, reduce_scatter = 0;
  };
  Started& started(int unit);

  std::unique_ptr<PointToPoint> point_to_point_;
  Arena staging_;
  CpuAllToAll gather_all_to_all_, shard_all_to_all_, replica_all_to_all_;
  AllGather all_gather_;
  Exchange exchange_;
  UnitReduction reduction_;
  std::vector<Started> started_;  ///< by unit, the numbers of its last jobs
  std::vector<std::int64_t> others_words_;
  std::vector<PointToPoint::Message> messages_;
  BackgroundQueue all_gather_queue_, reduction_queue_;  // last: their threads use the members above
};

}  // namespace monomorph::distributed
