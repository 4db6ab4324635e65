#pragma once
#include <monomorph/plan/strategy.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// A policy of the tree as values, with the name by which a recipe has it.
struct NamedSharding {
  std::string name;  ///< "HybridShard<8>"
  plan::ShardingValues values;
};
struct NamedCheckpointing {
  std::string_view name;
  plan::CheckpointingValues values;
};

/// Every way to shard that so many ranks can work with, groups of hybrid ones being nodes.
std::vector<NamedSharding> sharding_strategies(int ranks, int gpus_per_node);

/// Ways to recompute, the plainest first.
std::vector<NamedCheckpointing> checkpointing_strategies();

}  // namespace monomorph::train
