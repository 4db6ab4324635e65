#include "train/scaling/search.hpp"

#include "recipes.hpp"
#include "support/catch.hpp"
#include "train/scaling/device_memory.hpp"

#include <algorithm>
#include <bit>
#include <set>

using namespace monomorph;
using namespace monomorph::train;
using namespace scaling_tests;

namespace {

Cluster cluster_of(std::string_view gpu) { return {find_gpu(gpu), find_network("infiniband400"), 8}; }

/// The largest micro-batch of the recipe as it is that divides a rank's share and fits, as `--micro-batch auto` has it.
std::int64_t largest_that_fits(const plan::PlannedRecipe& recipe, const Cluster& cluster, int ranks,
                               std::int64_t global_batch) {
  for (std::int64_t micro_batch = global_batch / ranks; micro_batch > 1; --micro_batch)
    if (global_batch % (micro_batch * ranks) == 0 &&
        fits(memory_on_gpu(recipe, recipe.strategy(ranks), ranks, micro_batch), *cluster.gpu))
      return micro_batch;
  return 1;
}

}  // namespace

TEST_CASE("a search finds what fits, the fastest first, and nothing twice") {
  const Cluster cluster = cluster_of("h100");
  const auto recipe = plan::planned_recipe<Llama8b>();
  const std::vector<Proposal> found = search(recipe, cluster, 64, 0);
  REQUIRE(found.size() > 10);
  CHECK(std::ranges::all_of(found, [](const Proposal& proposal) { return proposal.prediction.fits; }));
  CHECK(std::ranges::is_sorted(found, std::ranges::greater{},
                               [](const Proposal& proposal) { return proposal.prediction.tokens_per_second; }));
  // 16 bytes a parameter are 128 GB.
  CHECK(std::ranges::none_of(found, [](const Proposal& proposal) { return proposal.sharding.name == "Replicate"; }));
  CHECK(
      std::ranges::any_of(found, [](const Proposal& proposal) { return proposal.sharding.name == "HybridShard<8>"; }));
  CHECK(search(recipe, {find_gpu("a100"), nullptr, 8}, 1, 0).empty());
}

TEST_CASE("a search keeps to a global batch") {
  const auto recipe = plan::planned_recipe<Gpt2>();
  std::set<std::int64_t> micro_batches;
  for (const Proposal& proposal : search(recipe, cluster_of("h100"), 8, 8 * 12))
    micro_batches.insert(proposal.micro_batch);
  CHECK(micro_batches == std::set<std::int64_t>{1, 2, 3, 4, 6, 12});
  CHECK(search(recipe, cluster_of("h100"), 8, 9).empty());
}

TEST_CASE("of checkpointing policies that do the same with few blocks one is proposed") {
  std::vector<std::string> names;
  for (const Proposal& proposal : search(plan::planned_recipe<TwoBlocks>(), cluster_of("h100"), 1, 1))
    names.push_back(proposal.checkpointing.name);
  std::ranges::sort(names);
  CHECK(names ==
        std::vector<std::string>{"EveryBlock", "Fraction<1, 2>", "Fraction<1, 4>", "KeepAll", "RecomputeCheap"});
}

TEST_CASE("of single choices of what to recompute, the fastest that fits is proposed where keeping all does not fit") {
  const auto recipe = plan::planned_recipe<Llama8b>();
  const Cluster cluster = cluster_of("h100");
  int n = 0;
  for (const Proposal& proposal : search(recipe, cluster, 64, 0)) {
    if (!proposal.checkpointing.name.starts_with("Selective<Recompute{.")) continue;
    ++n;
    const auto with = [&](const plan::CheckpointingValues& policy) {
      return predict(recipe, {cluster, 64, proposal.micro_batch, 1, {proposal.sharding.values, policy}});
    };
    CHECK_FALSE(with(plan::checkpointing_values<checkpointing::KeepAll>).fits);
    for (const NamedCheckpointing& other : selective_strategies(recipe, *cluster.gpu))
      if (const StepPrediction p = with(other.values); p.fits)
        CHECK(p.step_seconds >= proposal.prediction.step_seconds * (1 - 1e-9));
  }
  CHECK(n > 0);
}

TEST_CASE("the prediction of all choices together is dearer than that of each, and of nothing cheaper") {
  const auto recipe = plan::planned_recipe<Gpt2>();
  PlannedRun run{cluster_of("h100"), 1, 4, 1, recipe.strategy(1)};
  const auto seconds = [&](const plan::CheckpointingValues& policy) {
    run.strategy.checkpointing = policy;
    return predict(recipe, run).step_seconds;
  };
  const double none = seconds(plan::checkpointing_values<checkpointing::KeepAll>),
               all = seconds(plan::checkpointing_values<checkpointing::EveryBlock>);
  const std::vector<NamedCheckpointing> choices = selective_strategies(recipe, *cluster_of("h100").gpu);
  CHECK(choices.size() == 61);  // not none, what is cheap, or all
  for (const NamedCheckpointing& choice : choices) {
    CAPTURE(choice.name);
    CHECK(seconds(choice.values) > none);
    CHECK(seconds(choice.values) < all);
  }
}

TEST_CASE("a search is never worse than the recipe as it is with the largest micro-batch that fits") {
  const auto check = [&]<class R>(R, int ranks, std::int64_t global_batch) {
    CAPTURE(ranks, global_batch);
    const auto recipe = plan::planned_recipe<R>();
    const Cluster cluster = cluster_of("h100");
    const std::int64_t micro_batch = largest_that_fits(recipe, cluster, ranks, global_batch);
    const StepPrediction own =
        predict(recipe, {cluster, ranks, micro_batch, global_batch / (micro_batch * ranks), recipe.strategy(ranks)});
    REQUIRE(own.fits);
    const std::vector<Proposal> found = search(recipe, cluster, ranks, global_batch);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().prediction.tokens_per_second >= own.tokens_per_second);
  };
  check(Llama8b{}, 64, 64 * 12);
  check(Llama8b{}, 64, 64 * 7);
  check(Zero2{}, 16, 16 * 6);
  check(Gpt2{}, 8, 8 * 45);
  check(Gpt2{}, 1, 96);
}

TEST_CASE("without a global batch a search tries powers of two and the largest micro-batch that fits") {
  const auto recipe = plan::planned_recipe<Llama8b>();
  const Cluster cluster = cluster_of("h100");
  std::int64_t others = 0;
  for (const Proposal& proposal : search(recipe, cluster, 64, 0)) {
    CAPTURE(proposal.sharding.name, proposal.checkpointing.name, proposal.micro_batch);
    if (std::has_single_bit(static_cast<std::uint64_t>(proposal.micro_batch))) continue;
    if (proposal.checkpointing.name.starts_with("Selective<")) continue;  // the largest of other choices
    ++others;
    CHECK_FALSE(fits(memory_on_gpu(recipe, {proposal.sharding.values, proposal.checkpointing.values}, 64,
                                   proposal.micro_batch + 1),
                     *cluster.gpu));
  }
  CHECK(others > 0);
}

TEST_CASE("no plan is smaller than the smallest") {
  const auto recipe = plan::planned_recipe<Llama8b>();
  const Cluster cluster = cluster_of("h100");
  const SmallestPlan smallest = smallest_plan(recipe, cluster, 64);
  CHECK(smallest.checkpointing.name == "EveryBlock");
  for (const Proposal& proposal : search(recipe, cluster, 64, 0))
    CHECK(bytes_on_gpu(proposal.prediction.memory) >= smallest.bytes);
}
