#pragma once
#include "runtime/distributed/collectives.hpp"

#include <monomorph/runtime/comm/communicator.hpp>

namespace monomorph::distributed {

/// Reduces the gradients of a unit among the ranks that hold one copy together. The last reduction of a step then goes
/// on among the replicas of each shard, every one of which adds up a part and sends it to the others.
class UnitReduction {
 public:
  /// @param staging, wire as of ReduceScatter
  UnitReduction(AllToAll& shards, AllToAll& replicas, View staging, DType wire)
      : shards_(shards), replicas_(replicas), reduce_scatter_(staging, wire) {}
  void operator()(View unsharded, View shard, Reduction reduction);

 private:
  AllToAll &shards_, &replicas_;
  ReduceScatter reduce_scatter_;
  AllGather all_gather_;
};

}  // namespace monomorph::distributed
