#include "runtime/distributed/unit_reduction.hpp"

namespace monomorph::distributed {

namespace {

/// Divides the reduction of a shard among its replicas.
ShardedBuffer replica_shards(View shard, int replicas) {
  return {shard, align_up((shard.elements() + replicas - 1) / replicas)};
}

}  // namespace

void UnitReduction::operator()(View unsharded, View shard, Reduction reduction) {
  if (shards_.group().size() > 1) reduce_scatter_(shards_, {unsharded, shard.elements()}, shard, reduction.accumulate);
  const RankGroup& replicas = replicas_.group();
  if (replicas.size() == 1 || !reduction.last) return;
  const ShardedBuffer sharded = replica_shards(shard, replicas.size());
  const View sum = sharded.shard(replicas.rank_in_group);
  reduce_scatter_(replicas_, sharded, sum, false);
  all_gather_(replicas_, sum, sharded);
}

}  // namespace monomorph::distributed
