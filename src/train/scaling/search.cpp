#include "train/scaling/search.hpp"

#include "train/scaling/device_memory.hpp"

#include <algorithm>
#include <set>

namespace monomorph::train {
namespace {

constexpr std::int64_t most_micro_batch = 1024;

/// What a policy does with each block of a recipe.
std::vector<unsigned> pattern(const plan::PlannedRecipe& recipe, const plan::CheckpointingValues& policy) {
  std::vector<unsigned> blocks;
  for (int i = 0; i < recipe.n_layers; ++i)
    if (recipe.layer_work(i).kind == UnitKind::block)
      blocks.push_back(number_of(policy.recompute(i - recipe.first_block)));
  return blocks;
}

/// Fractions of few blocks are none or all of them: of policies that do the same the first one stays.
std::vector<NamedCheckpointing> different_policies(const plan::PlannedRecipe& recipe) {
  std::vector<NamedCheckpointing> policies = checkpointing_strategies();
  std::set<std::vector<unsigned>> seen;
  std::erase_if(policies, [&](const auto& policy) { return !seen.insert(pattern(recipe, policy.values)).second; });
  return policies;
}

/// Powers of two of which the global batch is a multiple.
std::vector<std::int64_t> micro_batches_of(int ranks, std::int64_t global_batch) {
  std::vector<std::int64_t> micro_batches;
  for (std::int64_t n = 1; n <= most_micro_batch && (global_batch == 0 || global_batch % (n * ranks) == 0); n *= 2)
    micro_batches.push_back(n);
  return micro_batches;
}

}  // namespace

std::vector<Proposal> search(const plan::PlannedRecipe& recipe, const Cluster& cluster, int ranks,
                             std::int64_t global_batch) {
  std::vector<Proposal> proposals;
  const std::vector<NamedCheckpointing> policies = different_policies(recipe),
                                        selective = selective_strategies(recipe, *cluster.gpu);
  const std::vector<std::int64_t> micro_batches = micro_batches_of(ranks, global_batch);
  const auto propose = [&](const NamedSharding& sharding, const NamedCheckpointing& checkpointing,
                           std::int64_t micro_batch) {
    const std::int64_t n = global_batch > 0 ? global_batch / (micro_batch * ranks) : 1;
    const StepPrediction prediction =
        predict(recipe, {cluster, ranks, micro_batch, n, {sharding.values, checkpointing.values}});
    if (prediction.fits) proposals.push_back({sharding, checkpointing, micro_batch, prediction});
    return prediction.fits;
  };
  for (const NamedSharding& sharding : sharding_strategies(ranks, cluster.gpus_per_node)) {
    for (const NamedCheckpointing& checkpointing : policies)
      for (const std::int64_t micro_batch : micro_batches)
        if (!propose(sharding, checkpointing, micro_batch)) break;  // a larger one does not fit either
    for (const std::int64_t micro_batch : micro_batches) {
      const auto fits_gpu = [&](const NamedCheckpointing& checkpointing) {
        return fits(memory_on_gpu(recipe, {sharding.values, checkpointing.values}, ranks, micro_batch), *cluster.gpu);
      };
      if (fits_gpu(policies.front())) continue;  // all may be kept
      const auto fastest = std::ranges::find_if(selective, fits_gpu);
      if (fastest == selective.end()) break;
      propose(sharding, *fastest, micro_batch);
    }
  }
  std::ranges::stable_sort(proposals, std::ranges::greater{},
                           [](const Proposal& proposal) { return proposal.prediction.tokens_per_second; });
  return proposals;
}

}  // namespace monomorph::train
