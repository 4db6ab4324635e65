#pragma once
#include "runtime/distributed/grouped_communicator.hpp"
#include "runtime/distributed/unit_reduction.hpp"
#include "runtime/nccl/communication_stream.hpp"
#include "runtime/nccl/stream_all_to_all.hpp"

#include <monomorph/runtime/comm/connect_ranks.hpp>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/arena.hpp>

#include <memory>
#include <optional>

namespace monomorph::cuda {

/// Collectives between GPUs, one of which is the rank's. Gathers and reductions have a stream each, and each group of
/// ranks on a stream has an NCCL communicator of its own, as NCCL runs what one communicator is given one after the
/// other. What is added up for a step, and what all see of a micro-batch, goes on the queue's own stream, as what comes
/// behind it needs it. The host waits for none of it but for sums of its own words.
class CudaCommunicator final : public distributed::GroupedCommunicator {
 public:
  /// @param key in the world's store, of no other communicator   @throws Error [RANK-05], [RANK-18]
  CudaCommunicator(Queue queue, int device, const World& world, const std::string& key, const RankGroup& data,
                   const CommunicatorSpec& spec);
  bool takes_turns() const override { return true; }
  void check() override { watchdog_.check(); }
  MemoryAccess memory() const override;
  void exchange(int other, View sent, View received) override;
  void begin_recording() override;
  int end_recording() override;
  void runs_recording(int recording) override;

 private:
  void begin_all_gather(std::span<const UnitGather> units) override;
  void begin_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) override;
  void begin_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) override;
  void note_release(int) override {}  // a gather waits for all that the queue was given before it
  void finish(int unit) override;
  void count_bytes(plan::Traffic& traffic) const override;
  void all_reduce_words(std::span<std::int64_t> words) override;
  void start_all_reduce(View words) override;
  void start_all_reduce_max(View words) override;
  void gather_all_parts(View all) override;

  /// Sums of NCCL's, in whatever order it chooses.
  void reduce_in_any_order(View unsharded, View shard, Reduction reduction);
  /// Whether gradients are sent as they are, and to be added up in any order.
  bool leaves_order_to_nccl(DType gradients) const;
  const NcclGroup* reducing_group(Reduction reduction) const;
  std::vector<NcclGroup*> groups() const;

  Queue queue_;
  CommunicatorSpec spec_;
  std::unique_ptr<NcclGroup> gathers_, shard_sums_, replica_sums_, all_;  ///< null for a group of one
  Watchdog watchdog_;                                                     // until what waits for them below has gone
  Arena words_memory_;
  View words_;
  std::optional<Arena>
      staging_;  ///< for sums in a fixed order, and for gradients that are rounded before they are sent
  CommunicationStream gather_stream_, reduce_stream_;
  StreamAllToAll gather_all_to_all_, shard_all_to_all_, replica_all_to_all_;
  distributed::Exchange exchange_;
  std::optional<distributed::UnitReduction> ordered_reduction_;
  std::vector<plan::Traffic> recorded_;  ///< what was sent before each recording, and then what it sends itself
};

}  // namespace monomorph::cuda
