#include "train/describe/micro_batch_choice.hpp"

#include "train/describe/batch_partition.hpp"
#include "train/describe/run_memory.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

/// Whether the plan fits the device, and what ranks of one machine fill of its main memory the share that is theirs.
bool fits(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks, const FreeMemory& memory) {
  const double filled =
      static_cast<double>(ranks.local) * static_cast<double>(run_memory(recipe, hparams, ranks.all).total());
  if (filled > usable_main_memory * static_cast<double>(memory.main)) return false;
  // The driver's context is there already, at least in part, when the free memory is asked for. That the plan counts it
  // once more is the margin.
  return !memory.device ||
         recipe.memory(ranks.all, micro_batch_of(hparams), tree_levels(hparams, ranks.all)).budgeted() <=
             *memory.device;
}

/// Ends "the most that divide a rank's 64 sequences".
std::string of_memory(const RecipeProgram& recipe, const FreeMemory& memory) {
  if (memory.device)
    return fmt::format(" and fit the {} of the device's memory that are free", format_bytes(*memory.device));
  if (recipe.has_own_memory())
    return fmt::format(" and are {} or fewer, as no device here says what would fit it", usual_micro_batch);
  return fmt::format(", are {} or fewer and fit {:.0f} % of the {} of memory that are free", usual_micro_batch,
                     100 * usable_main_memory, format_bytes(memory.main));
}

/// Other numbers of ranks or sequences may need a smaller one.
MicroBatchChoice as_in_checkpoint(std::int64_t of_checkpoint, std::int64_t micro_batch, std::int64_t share) {
  if (micro_batch == of_checkpoint) return {micro_batch, "as in the checkpoint's run, whose bits depend on it"};
  return {micro_batch, fmt::format("as many of the {} in the checkpoint's run as divide a rank's {} sequences",
                                   of_checkpoint, share)};
}

}  // namespace

FreeMemory free_memory(const RecipeProgram& recipe) {
  FreeMemory memory{.main = machine_memory().available};
  if (recipe.has_own_memory()) memory.device = recipe.device_use().free_memory_bytes;
  return memory;
}

FreeMemory free_memory_if_known(const RecipeProgram& recipe) {
  try {
    return free_memory(recipe);
  } catch (const UsageError& error) {
    if (error.id() != "GPU-03") throw;
    return {.main = machine_memory().available};
  }
}

std::int64_t free_device_memory(const RecipeProgram& recipe) {
  try {
    return free_memory(recipe).device.value_or(0);
  } catch (const Error&) {
    return 0;
  }
}

MicroBatchChoice choose_micro_batch(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks,
                                    const FreeMemory& memory, std::optional<std::int64_t> of_checkpoint) {
  const std::int64_t global_batch = hparams.batch.global_batch, share = global_batch / ranks.all;
  const bool in_tree = hparams.batch.reduction.value == ReductionOrder::fixed_tree;
  if (of_checkpoint && (!in_tree || global_batch % (*of_checkpoint * ranks.all) == 0))
    return as_in_checkpoint(*of_checkpoint, largest_micro_batch(global_batch, ranks.all, *of_checkpoint).value_or(1),
                            share);
  if (in_tree) return {usual_micro_batch, "as in every fixed tree, whose bits depend on it"};
  Hparams tried = hparams;
  const std::int64_t most = memory.device ? global_batch : usual_micro_batch;
  const std::int64_t micro_batch = largest_fitting(global_batch, ranks.all, most, [&](std::int64_t candidate) {
    tried.batch.micro_batch.value = candidate;
    return fits(recipe, tried, ranks, memory);
  });
  return {micro_batch, fmt::format("the most that divide a rank's {} sequences{}", share, of_memory(recipe, memory)),
          true};
}

std::string text_of(const MicroBatchChoice& choice) {
  return fmt::format("batch.micro_batch = {} (auto: {})", choice.micro_batch, choice.reason);
}

}  // namespace monomorph::train
