#include "runtime/distributed/unit_reduction.hpp"

namespace monomorph::distributed {

namespace {

/// Divides the reduction of a shard among its replicas.
Parts replica_parts(View own, int replicas) { return {own, align_up((own.elements() + replicas - 1) / replicas)}; }

}  // namespace

void UnitReduction::operator()(View whole, View own, Reduction reduction) {
  if (shards_.group().size() > 1) reduce_scatter_(shards_, {whole, own.elements()}, own, reduction.accumulate);
  const RankGroup& replicas = replicas_.group();
  if (replicas.size() == 1 || !reduction.last) return;
  const Parts parts = replica_parts(own, replicas.size());
  const View sum = parts.of(replicas.own);
  reduce_scatter_(replicas_, parts, sum, false);
  all_gather_(replicas_, sum, parts);
}

}  // namespace monomorph::distributed
