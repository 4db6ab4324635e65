#include "runtime/distributed/grouped_communicator.hpp"

#include "runtime/distributed/unit_reduction.hpp"

namespace monomorph::distributed {

GroupedCommunicator::GroupedCommunicator(int rank, int size, int shards, DType wire)
    : rank_(rank),
      size_(size),
      shard_group_(shard_group(rank, shards)),
      replica_group_(replica_group(rank, size, shards)),
      wire_(wire) {}

void GroupedCommunicator::start_gather(int unit, View own, View whole) {
  if (shards() == 1) return;
  traffic_.gathers.add((shards() - 1) * own.bytes());
  begin_gather(unit, own, whole);
}

void GroupedCommunicator::start_reduce(int unit, View whole, View own, Reduction reduction) {
  if (shards() == 1 && !reduction.last) return;  // whole is own, and accumulates by itself
  count_reduction(own, reduction);
  begin_reduce(unit, whole, own, reduction);
}

void GroupedCommunicator::count_reduction(View own, Reduction reduction) {
  if (shards() > 1) traffic_.reductions.add((shards() - 1) * own.elements() * size_of(wire_));
  const int replicas = replica_group_.size();
  if (replicas == 1 || !reduction.last) return;
  const std::int64_t part = replica_parts(own, replicas).of(replica_group_.own).elements();
  traffic_.replica_reductions.add((own.elements() - part) * size_of(wire_) +
                                  (replicas - 1) * part * size_of(own.dtype));
}

}  // namespace monomorph::distributed
