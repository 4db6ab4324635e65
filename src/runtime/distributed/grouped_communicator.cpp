#include "runtime/distributed/grouped_communicator.hpp"

#include <utility>

namespace monomorph::distributed {

GroupedCommunicator::GroupedCommunicator(RankGroup group, int shards)
    : group_(std::move(group)),
      shard_group_(shard_group(group_, shards)),
      replica_group_(replica_group(group_, shards)) {}

void GroupedCommunicator::start_all_gather(int unit, View shard, View unsharded) {
  if (shards() == 1) return;
  ++started_.gathers.collectives;
  begin_all_gather(unit, shard, unsharded);
}

void GroupedCommunicator::start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) {
  if (shards() == 1 && !reduction.last) return;  // one buffer, in which gradients accumulate
  if (shards() > 1) ++started_.reductions.collectives;
  if (replica_group_.size() > 1 && reduction.last) ++started_.replica_reductions.collectives;
  begin_reduce_scatter(unit, unsharded, shard, reduction);
}

void GroupedCommunicator::gather_parts(View all) {
  ++started_.batch_gathers.collectives;
  gather_all_parts(all);
}

plan::Traffic GroupedCommunicator::traffic() const {
  plan::Traffic traffic = started_;
  count_bytes(traffic);
  return traffic;
}

}  // namespace monomorph::distributed
