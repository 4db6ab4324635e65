#include "runtime/distributed/grouped_communicator.hpp"

namespace monomorph::distributed {

GroupedCommunicator::GroupedCommunicator(int rank, int size, int shards)
    : rank_(rank),
      size_(size),
      shard_group_(shard_group(rank, shards)),
      replica_group_(replica_group(rank, size, shards)) {}

void GroupedCommunicator::start_gather(int unit, View own, View whole) {
  if (shards() == 1) return;
  ++started_.gathers.collectives;
  begin_gather(unit, own, whole);
}

void GroupedCommunicator::start_reduce(int unit, View whole, View own, Reduction reduction) {
  if (shards() == 1 && !reduction.last) return;  // one buffer, in which gradients accumulate
  if (shards() > 1) ++started_.reductions.collectives;
  if (replica_group_.size() > 1 && reduction.last) ++started_.replica_reductions.collectives;
  begin_reduce(unit, whole, own, reduction);
}

plan::Traffic GroupedCommunicator::traffic() const {
  plan::Traffic traffic = started_;
  count_bytes(traffic);
  return traffic;
}

}  // namespace monomorph::distributed
