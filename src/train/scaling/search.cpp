#include "train/scaling/search.hpp"

#include <algorithm>
#include <set>

namespace monomorph::train {
namespace {

constexpr std::int64_t most_micro_batch = 1024;

/// What a policy does with each block of a recipe.
std::vector<Recompute> pattern(const plan::PlannedRecipe& recipe, const plan::CheckpointingValues& policy) {
  std::vector<Recompute> blocks;
  for (int i = 0; i < recipe.n_layers; ++i)
    if (recipe.layer_work(i).kind == UnitKind::block) blocks.push_back(policy.recompute(i - recipe.first_block));
  return blocks;
}

/// Fractions of few blocks are none or all of them: of policies that do the same the first one stays.
std::vector<NamedCheckpointing> different_policies(const plan::PlannedRecipe& recipe) {
  std::vector<NamedCheckpointing> policies = checkpointing_strategies();
  std::set<std::vector<Recompute>> seen;
  std::erase_if(policies, [&](const auto& policy) { return !seen.insert(pattern(recipe, policy.values)).second; });
  return policies;
}

}  // namespace

std::vector<Proposal> search(const plan::PlannedRecipe& recipe, const Cluster& cluster, int ranks,
                             std::int64_t global_batch) {
  std::vector<Proposal> proposals;
  const std::vector<NamedCheckpointing> policies = different_policies(recipe);
  for (const NamedSharding& sharding : sharding_strategies(ranks, cluster.gpus_per_node))
    for (const NamedCheckpointing& checkpointing : policies)
      for (std::int64_t micro_batch = 1; micro_batch <= most_micro_batch; micro_batch *= 2) {
        if (global_batch > 0 && global_batch % (micro_batch * ranks) != 0) break;
        const std::int64_t micro_batches = global_batch > 0 ? global_batch / (micro_batch * ranks) : 1;
        const StepPrediction prediction =
            predict(recipe, {cluster, ranks, micro_batch, micro_batches, {sharding.values, checkpointing.values}});
        if (!prediction.fits) break;  // a larger one does not fit either
        proposals.push_back({sharding, checkpointing, micro_batch, prediction});
      }
  std::ranges::stable_sort(proposals, std::ranges::greater{},
                           [](const Proposal& proposal) { return proposal.prediction.tokens_per_second; });
  return proposals;
}

}  // namespace monomorph::train
