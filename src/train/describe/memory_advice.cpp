#include "train/describe/memory_advice.hpp"

#include "train/describe/batch_partition.hpp"
#include "train/describe/micro_batch_choice.hpp"

#include <monomorph/checkpointing/every_block.hpp>
#include <monomorph/checkpointing/recompute_cheap.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/rule/budget_rule.hpp>
#include <monomorph/sharding/full_shard.hpp>
#include <monomorph/sharding/shard_grad_op.hpp>
#include <monomorph/sharding/shard_optimizer.hpp>

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace monomorph::train {
namespace {

using rule::MemoryPart;

std::string_view name_of(MemoryPart part) {
  switch (part) {
    case MemoryPart::parameters:
      return "parameters of the optimizer";
    case MemoryPart::compute_parameters:
      return "parameters of compute";
    case MemoryPart::gathered_parameters:
      return "gathered parameters";
    case MemoryPart::gradients:
      return "gradients";
    case MemoryPart::gathered_gradients:
      return "gradients before reduction";
    case MemoryPart::gradient_tree:
      return "partial sums of gradients";
    case MemoryPart::optimizer_state:
      return "optimizer state";
    case MemoryPart::optimizer_workspace:
      return "optimizer workspace";
    case MemoryPart::activations:
      return "activations";
    case MemoryPart::statistics:
      return "statistics and logits";
    case MemoryPart::rotary:
      return "rotary tables";
    case MemoryPart::scalars:
      return "numbers of a step";
    case MemoryPart::host_parameters:
      return "parameters on the host";
    case MemoryPart::host_optimizer:
      return "masters and optimizer state on the host";
    case MemoryPart::host_activations:
      return "activations on the host";
    case MemoryPart::device_workspace:
      return "workspace of kernels";
    case MemoryPart::device_context:
      return "context of the driver";
    case MemoryPart::device_communication:
      return "collectives between devices";
    case MemoryPart::host_staging:
      return "copies for checkpoints";
    case MemoryPart::communication:
      return "gradients on their way";
  }
  return "";
}

/// Another way to train the recipe.
struct StrategyChange {
  std::string_view words;
  plan::Strategy strategy;
};

/// In the order of what they cost: see rule/budget_rule.hpp.
std::vector<StrategyChange> strategy_changes(const RecipeProgram& recipe, int ranks) {
  using namespace monomorph::sharding;
  using plan::checkpointing_values;
  using plan::sharding_values;
  const plan::Strategy own = recipe.planned.strategy(ranks);
  const plan::CheckpointingValues every_block = checkpointing_values<checkpointing::EveryBlock>;
  std::vector<StrategyChange> changes{
      {"checkpointing to RecomputeCheap", {own.sharding, checkpointing_values<checkpointing::RecomputeCheap>}}};
  if (ranks > 1) {
    changes.push_back({"sharding to ShardOptimizer", {sharding_values<ShardOptimizer>(ranks), own.checkpointing}});
    changes.push_back({"sharding to ShardGradOp", {sharding_values<ShardGradOp>(ranks), own.checkpointing}});
    changes.push_back({"sharding to FullShard", {sharding_values<FullShard>(ranks), own.checkpointing}});
  }
  if (!recipe.memory(ranks, 1, 0).arena_on_host)
    changes.push_back({"checkpointing to Offload of what it is",
                       {own.sharding, {own.checkpointing.recompute, [](int /*block*/) { return true; }}}});
  changes.push_back({"checkpointing to EveryBlock", {own.sharding, every_block}});
  if (ranks > 1)
    changes.push_back(
        {"sharding to FullShard and checkpointing to EveryBlock", {sharding_values<FullShard>(ranks), every_block}});
  return changes;
}

/// Finds what fits, for one run.
class ChangeSearch {
 public:
  ChangeSearch(const RecipeProgram& recipe, const Hparams& hparams, int ranks, const FitsMemory& fits)
      : recipe_(recipe), hparams_(hparams), ranks_(ranks), fits_(fits) {}

  std::string cheapest() const {
    const std::int64_t given = micro_batch_of(hparams_);
    if (const auto smaller = fitting_micro_batch(recipe_.planned.strategy(ranks_)))
      return fmt::format("change batch.micro_batch to {}, which fits", *smaller);
    const std::vector<StrategyChange> changes = strategy_changes(recipe_, ranks_);
    for (const auto& [words, strategy] : changes)
      if (fits(strategy, given)) return fmt::format("change {}, which fits", words);
    for (const auto& [words, strategy] : changes)
      if (const auto smaller = fitting_micro_batch(strategy))
        return fmt::format("change {} and batch.micro_batch to {}, which fit together", words, *smaller);
    return "take a smaller recipe, more ranks or a larger machine: recomputation, sharding and a micro-batch of 1 "
           "would not fit";
  }

 private:
  bool fits(const plan::Strategy& strategy, std::int64_t micro_batch) const {
    Hparams tried = hparams_;
    tried.batch.micro_batch.value = micro_batch;
    return fits_(recipe_.planned.memory(strategy, ranks_, micro_batch, tree_levels(tried, ranks_)), micro_batch);
  }
  /// Smaller than the given one; absent if none fits.
  std::optional<std::int64_t> fitting_micro_batch(const plan::Strategy& strategy) const {
    const std::int64_t given = micro_batch_of(hparams_);
    if (given == 1) return std::nullopt;
    const std::int64_t found = largest_fitting(hparams_.batch.global_batch, ranks_, given - 1,
                                               [&](std::int64_t micro_batch) { return fits(strategy, micro_batch); });
    return fits(strategy, found) ? std::optional(found) : std::nullopt;
  }

  const RecipeProgram& recipe_;
  const Hparams& hparams_;
  int ranks_;
  const FitsMemory& fits_;
};

}  // namespace

std::string largest_parts(const plan::Memory& memory) {
  const auto part = [&](int n) {
    const auto [which, bytes] = rule::largest_part(memory, n);
    return fmt::format("{} with {}", name_of(which), format_bytes(bytes));
  };
  return fmt::format("the largest parts of the plan are {}, {} and {}", part(0), part(1), part(2));
}

std::string memory_advice(const RecipeProgram& recipe, const Hparams& hparams, int ranks, const FitsMemory& fits) {
  return fmt::format("{}; {}",
                     largest_parts(recipe.memory(ranks, micro_batch_of(hparams), tree_levels(hparams, ranks))),
                     ChangeSearch(recipe, hparams, ranks, fits).cheapest());
}

}  // namespace monomorph::train
