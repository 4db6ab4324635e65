#pragma once
#include "train/scaling/hardware.hpp"

#include <monomorph/plan/planned_recipe.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// A policy of the tree as values, with the name by which a recipe has it.
struct NamedSharding {
  std::string name;  ///< "HybridShard<8>"
  plan::ShardingValues values;
};
struct NamedCheckpointing {
  std::string name;  ///< "Fraction<1, 4>"
  plan::CheckpointingValues values;
};

/// Every way to shard that so many ranks can work with, groups of hybrid ones being nodes.
std::vector<NamedSharding> sharding_strategies(int ranks, int gpus_per_node);

/// Ways to recompute, the plainest first.
std::vector<NamedCheckpointing> checkpointing_strategies();

/// Every choice of what to recompute in all blocks that none of the former makes, the one first that takes a GPU least
/// time. Each part of a choice saves something.
std::vector<NamedCheckpointing> selective_strategies(const plan::PlannedRecipe& recipe, const GpuSpec& gpu);

}  // namespace monomorph::train
