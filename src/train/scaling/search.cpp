#include "train/scaling/search.hpp"

#include "train/scaling/device_memory.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace monomorph::train {
namespace {

constexpr std::int64_t most_micro_batch = 1024;  ///< without a global batch
constexpr std::int64_t smallest_micro_batch = 1;

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

/// Ascending.
std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t n = 1; n * n <= number; ++n) {
    if (number % n != 0) continue;
    found.push_back(n);
    if (n * n != number) found.push_back(number / n);
  }
  std::ranges::sort(found);
  return found;
}

/// Of the micro-batches that divide a rank's share of the global batch those that fit; without a global batch the
/// powers of two that fit, and the largest.
/// @param fits_gpu of no micro-batch that is larger than one of which it does not hold
std::vector<std::int64_t> fitting_micro_batches(int ranks, std::int64_t global_batch, const auto& fits_gpu) {
  if (global_batch > 0) {
    if (global_batch % ranks != 0) return {};
    std::vector<std::int64_t> micro_batches = divisors(global_batch / ranks);
    micro_batches.erase(std::ranges::partition_point(micro_batches, fits_gpu), micro_batches.end());
    return micro_batches;
  }
  std::vector<std::int64_t> tried(most_micro_batch);
  std::iota(tried.begin(), tried.end(), 1);
  const std::int64_t largest = std::ranges::partition_point(tried, fits_gpu) - tried.begin();
  std::vector<std::int64_t> micro_batches;
  for (std::int64_t n = 1; n < largest; n *= 2) micro_batches.push_back(n);
  if (largest > 0) micro_batches.push_back(largest);
  return micro_batches;
}

}  // namespace

std::vector<Proposal> search(const plan::PlannedRecipe& recipe, const Cluster& cluster, int ranks,
                             std::int64_t global_batch) {
  std::vector<Proposal> proposals;
  const std::vector<NamedCheckpointing> policies = different_policies(recipe),
                                        selective = selective_strategies(recipe, *cluster.gpu);
  const auto propose = [&](const NamedSharding& sharding, const NamedCheckpointing& checkpointing,
                           std::int64_t micro_batch) {
    const std::int64_t n = global_batch > 0 ? global_batch / (micro_batch * ranks) : 1;
    proposals.push_back({sharding, checkpointing, micro_batch,
                         predict(recipe, {cluster, ranks, micro_batch, n, {sharding.values, checkpointing.values}})});
  };
  for (const NamedSharding& sharding : sharding_strategies(ranks, cluster.gpus_per_node)) {
    const auto fits_gpu = [&](const NamedCheckpointing& checkpointing, std::int64_t micro_batch) {
      return fits(memory_on_gpu(recipe, {sharding.values, checkpointing.values}, ranks, micro_batch), *cluster.gpu);
    };
    const auto fastest_selective = [&](std::int64_t micro_batch) {
      return std::ranges::find_if(selective, [&](const auto& choice) { return fits_gpu(choice, micro_batch); });
    };
    for (const NamedCheckpointing& checkpointing : policies)
      for (const std::int64_t micro_batch : fitting_micro_batches(ranks, global_batch, [&](std::int64_t tried) {
             return fits_gpu(checkpointing, tried);
           }))
        propose(sharding, checkpointing, micro_batch);
    for (const std::int64_t micro_batch : fitting_micro_batches(ranks, global_batch, [&](std::int64_t tried) {
           return fastest_selective(tried) != selective.end();
         }))
      if (!fits_gpu(policies.front(), micro_batch))  // where all may be kept it is
        propose(sharding, *fastest_selective(micro_batch), micro_batch);
  }
  std::ranges::stable_sort(proposals, std::ranges::greater{},
                           [](const Proposal& proposal) { return proposal.prediction.tokens_per_second; });
  return proposals;
}

SmallestPlan smallest_plan(const plan::PlannedRecipe& recipe, const Cluster& cluster, int ranks) {
  std::vector<NamedCheckpointing> policies = checkpointing_strategies();
  std::ranges::move(selective_strategies(recipe, *cluster.gpu), std::back_inserter(policies));
  std::vector<SmallestPlan> plans;
  for (const NamedSharding& sharding : sharding_strategies(ranks, cluster.gpus_per_node))
    for (const NamedCheckpointing& checkpointing : policies)
      plans.push_back(
          {sharding, checkpointing,
           bytes_on_gpu(memory_on_gpu(recipe, {sharding.values, checkpointing.values}, ranks, smallest_micro_batch))});
  return *std::ranges::min_element(plans, {}, &SmallestPlan::bytes);
}

}  // namespace monomorph::train
