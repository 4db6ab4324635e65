#include "train/scaling/strategies.hpp"

#include <monomorph/checkpointing/every_block.hpp>
#include <monomorph/checkpointing/fraction.hpp>
#include <monomorph/checkpointing/keep_all.hpp>
#include <monomorph/checkpointing/recompute_cheap.hpp>
#include <monomorph/sharding/full_shard.hpp>
#include <monomorph/sharding/hybrid_shard.hpp>
#include <monomorph/sharding/hybrid_shard_grad_op.hpp>
#include <monomorph/sharding/replicate.hpp>
#include <monomorph/sharding/shard_grad_op.hpp>
#include <monomorph/sharding/shard_optimizer.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

/// Of a hybrid policy only the size of its groups is left to the number of GPUs of a node, which is known at run time.
template <template <int> class Hybrid> NamedSharding hybrid(std::string_view name, int group) {
  plan::ShardingValues values = plan::sharding_values<Hybrid<2>>(2);
  values.shards = group;
  return {fmt::format("{}<{}>", name, group), values};
}
template <class Policy> NamedSharding whole_world(std::string_view name, int ranks) {
  return {std::string(name), plan::sharding_values<Policy>(ranks)};
}
template <class Policy> NamedCheckpointing checkpointing(std::string_view name) {
  return {name, plan::checkpointing_values<Policy>};
}

}  // namespace

std::vector<NamedSharding> sharding_strategies(int ranks, int gpus_per_node) {
  using namespace sharding;
  std::vector<NamedSharding> strategies{whole_world<Replicate>("Replicate", ranks)};
  if (ranks == 1) return strategies;  // nothing to divide
  strategies.push_back(whole_world<ShardOptimizer>("ShardOptimizer", ranks));
  strategies.push_back(whole_world<ShardGradOp>("ShardGradOp", ranks));
  strategies.push_back(whole_world<FullShard>("FullShard", ranks));
  if (gpus_per_node > 1 && ranks > gpus_per_node && ranks % gpus_per_node == 0) {
    strategies.push_back(hybrid<HybridShardGradOp>("HybridShardGradOp", gpus_per_node));
    strategies.push_back(hybrid<HybridShard>("HybridShard", gpus_per_node));
  }
  return strategies;
}

std::vector<NamedCheckpointing> checkpointing_strategies() {
  using namespace monomorph::checkpointing;
  return {checkpointing<KeepAll>("KeepAll"),
          checkpointing<RecomputeCheap>("RecomputeCheap"),
          checkpointing<EveryBlock>("EveryBlock"),
          checkpointing<Fraction<1, 4>>("Fraction<1, 4>"),
          checkpointing<Fraction<1, 2>>("Fraction<1, 2>"),
          checkpointing<Fraction<3, 4>>("Fraction<3, 4>")};
}

}  // namespace monomorph::train
