#include "train/scaling/strategies.hpp"

#include "train/describe/recompute_choices.hpp"
#include "train/scaling/layer_time.hpp"

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
#include <algorithm>

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
  return {std::string(name), plan::checkpointing_values<Policy>};
}

/// Seconds of backward through all layers, for a row of tokens.
double backward_seconds(const plan::PlannedRecipe& recipe, const LayerTime& time, Recompute again) {
  double seconds = 0;
  for (int layer = 0; layer < recipe.n_layers; ++layer)
    seconds += time.seconds(recipe.layer_work(layer), recipe.recomputed_work(layer, again),
                            static_cast<double>(recipe.trunk->context_length))
                   .backward;
  return seconds;
}
/// The choices of which each saves something.
unsigned saving_choices(const plan::PlannedRecipe& recipe) {
  unsigned saving = 0;
  for (unsigned i = 0; i < n_recompute_choices; ++i)
    if (total_work(recipe, recompute_of(1U << i)).elements > 0) saving |= 1U << i;
  return saving;
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

std::vector<NamedCheckpointing> selective_strategies(const plan::PlannedRecipe& recipe, const GpuSpec& gpu) {
  const LayerTime time(recipe, gpu, calibration());
  const unsigned saving = saving_choices(recipe), cheap = number_of(Recompute::cheap);
  std::vector<std::pair<double, Recompute>> choices;
  for (unsigned choice = 1; choice < all_choices; ++choice)
    if ((choice & ~saving) == 0 && choice != cheap)
      choices.emplace_back(backward_seconds(recipe, time, recompute_of(choice)), recompute_of(choice));
  std::ranges::stable_sort(choices, {}, &std::pair<double, Recompute>::first);
  std::vector<NamedCheckpointing> strategies;
  for (const auto& [seconds, again] : choices)
    strategies.push_back({fmt::format("Selective<{}>", choices_text(again)),
                          {recompute_always(again), monomorph::offloads<monomorph::checkpointing::KeepAll>}});
  return strategies;
}

}  // namespace monomorph::train
