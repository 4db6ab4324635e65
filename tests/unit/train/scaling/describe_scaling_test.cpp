#include "train/scaling/describe_scaling.hpp"

#include "recipes.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "train/scaling/search.hpp"

#include <algorithm>

using namespace monomorph;
using namespace monomorph::train;
using namespace scaling_tests;
using monomorph::testing::error_of;

namespace {

ScalingQuestion question(int ranks, std::string_view network = "infiniband400") {
  return {{find_gpu("h100"), find_network(network), 8}, ranks, 1, 0};
}
template <class R> std::string refusal(const ScalingQuestion& question) {
  return error_of([&] { check(plan::planned_recipe<R>(), question); });
}

}  // namespace

TEST_CASE("clusters that a recipe can't be trained on are refused, and what to do is said") {
  CHECK(refusal<Llama8b>(question(64)) == "(no error)");
  CHECK(refusal<Llama8b>(question(8, "")) == "(no error)");
  CHECK(refusal<Llama8b>(question(64, "")) ==
        "[SCALE-01] 64 ranks, of which 8 share a node, must have a network between nodes; name it with --network, or "
        "give --gpus-per-node");
  CHECK(refusal<Llama8b>(question(12)) ==
        "[SCALE-02] ranks on several nodes must be a multiple of the 8 GPUs of a node, and are 12; change --ranks or "
        "--gpus-per-node");
  CHECK(refusal<InFp64>(question(1)) ==
        "[SCALE-03] the data sheet of h100 must have a rate of products in fp64, in which the recipe computes; name "
        "another --gpu, or change the recipe's precision");
  ScalingQuestion of_fp8 = question(1);
  of_fp8.cluster.gpu = find_gpu("a100");
  CHECK(refusal<Llama8bInFp8>(of_fp8) ==
        "[SCALE-03] the data sheet of a100 must have a rate of products in fp8, in which the recipe computes; name "
        "another --gpu, or change the recipe's precision");
  ScalingQuestion odd = question(64);
  odd.micro_batch = 3, odd.global_batch = 256;
  CHECK(refusal<Llama8b>(odd) ==
        "[SCALE-04] --global-batch must be a multiple of ranks x --micro-batch = 64 x 3 = 192, and is 256; change one "
        "of the three");
  odd.global_batch = 384;
  CHECK(refusal<Llama8b>(odd) == "(no error)");
}

TEST_CASE("a search finds what fits, the fastest first, and nothing twice") {
  const Cluster cluster = question(64).cluster;
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
  for (const Proposal& proposal : search(recipe, question(8).cluster, 8, 8 * 12)) CHECK(proposal.micro_batch <= 4);
  CHECK(search(recipe, question(8).cluster, 8, 9).empty());
}

TEST_CASE("of checkpointing policies that do the same with few blocks one is proposed") {
  std::vector<std::string> names;
  for (const Proposal& proposal : search(plan::planned_recipe<TwoBlocks>(), question(1).cluster, 1, 1))
    names.push_back(proposal.checkpointing.name);
  std::ranges::sort(names);
  CHECK(names ==
        std::vector<std::string>{"EveryBlock", "Fraction<1, 2>", "Fraction<1, 4>", "KeepAll", "RecomputeCheap"});
}

TEST_CASE("of single choices of what to recompute, the fastest that fits is proposed where keeping all does not fit") {
  const auto recipe = plan::planned_recipe<Llama8b>();
  const Cluster cluster = question(64).cluster;
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
  PlannedRun run{question(1).cluster, 1, 4, 1, recipe.strategy(1)};
  const auto seconds = [&](const plan::CheckpointingValues& policy) {
    run.strategy.checkpointing = policy;
    return predict(recipe, run).step_seconds;
  };
  const double none = seconds(plan::checkpointing_values<checkpointing::KeepAll>),
               all = seconds(plan::checkpointing_values<checkpointing::EveryBlock>);
  const std::vector<NamedCheckpointing> choices = selective_strategies(recipe, *question(1).cluster.gpu);
  CHECK(choices.size() == 61);  // not none, what is cheap, or all
  for (const NamedCheckpointing& choice : choices) {
    CAPTURE(choice.name);
    CHECK(seconds(choice.values) > none);
    CHECK(seconds(choice.values) < all);
  }
}

TEST_CASE("what is predicted is said of the recipe as it is, and of every strategy") {
  const std::string text = describe_scaling(plan::planned_recipe<Llama8b>(), question(64));
  CAPTURE(text);
  for (const std::string part : {"predicted on 64 x h100, 8 of them a node, infiniband400 (micro-batch 1, 1 a step)",
                                 "H100, by its data sheet", "989.4 TFLOP/s of products in bf16 (fp32 66.9, fp16 989.4)",
                                 "roof", "communication", "MFU", "(PaLM)", "Replicate", "ShardOptimizer", "ShardGradOp",
                                 "FullShard", "HybridShardGradOp<8>", "HybridShard<8>", "does not fit"})
    CHECK(text.find(part) != std::string::npos);
  const std::string plans = describe_search(plan::planned_recipe<Llama8b>(), question(64));
  CHECK(plans.find("using sharding = monomorph::sharding::") != std::string::npos);
  CHECK(plans.find("using checkpointing = monomorph::checkpointing::") != std::string::npos);
  CHECK(plans.find("--set batch.micro_batch=") != std::string::npos);
}
