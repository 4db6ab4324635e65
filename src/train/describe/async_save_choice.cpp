#include "train/describe/async_save_choice.hpp"

#include "train/describe/batch_partition.hpp"
#include "train/describe/micro_batch_choice.hpp"
#include "train/describe/run_memory.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

std::optional<std::string> staging_beyond_memory(const RecipeProgram& recipe, const Hparams& hparams,
                                                 LaunchedRanks ranks, std::int64_t free_main_memory) {
  Hparams with_staging = hparams;
  with_staging.checkpoint.async_save.value = AsyncSave::on;
  const RunMemory memory = run_memory(recipe, with_staging, ranks.all);
  if (static_cast<double>(ranks.local) * static_cast<double>(memory.total()) <=
      usable_main_memory * static_cast<double>(free_main_memory))
    return std::nullopt;
  return fmt::format(
      "with {} for a copy of the state, the run would not fit {:.0f} % of the {} of memory that are free",
      format_bytes(memory.staging), 100 * usable_main_memory, format_bytes(free_main_memory));
}

std::optional<std::string> staging_beyond_budget(const RecipeProgram& recipe, const Hparams& hparams, int ranks) {
  const plan::Memory plan = recipe.memory(ranks, micro_batch_of(hparams), tree_levels(hparams, ranks));
  if (recipe.budget == nullptr || !plan.arena_on_host) return std::nullopt;
  const std::int64_t needed = plan.checkpoint_staging, budget = recipe.budget->bytes_per_rank.value;
  if (plan.budgeted() + needed <= budget) return std::nullopt;
  return fmt::format("beside the {} that are planned, {} for a copy of the state exceed the recipe's budget of {}",
                     format_bytes(plan.budgeted()), format_bytes(needed), format_bytes(budget));
}

}  // namespace

std::optional<std::string> choose_async_save(const RecipeProgram& recipe, Hparams& hparams, LaunchedRanks ranks,
                                             std::int64_t free_main_memory) {
  AsyncSave& async_save = hparams.checkpoint.async_save.value;
  if (async_save == AsyncSave::off) return std::nullopt;
  std::optional<std::string> reason = staging_beyond_budget(recipe, hparams, ranks.all);
  if (async_save == AsyncSave::on) {
    if (!reason) return std::nullopt;
    throw UsageError("CHECKPOINT-20",
                     fmt::format("checkpoint.async_save = on must fit the memory: {}; take \"auto\" or \"off\", or "
                                 "raise the recipe's budget.bytes_per_rank",
                                 *reason));
  }
  if (!reason) reason = staging_beyond_memory(recipe, hparams, ranks, free_main_memory);
  async_save = reason ? AsyncSave::off : AsyncSave::on;
  return reason;
}

std::string async_save_is_off(const std::string& reason) {
  return fmt::format("checkpoint.async_save = off (auto: {}), so steps wait for checkpoints", reason);
}

}  // namespace monomorph::train
