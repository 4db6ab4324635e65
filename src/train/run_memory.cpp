#include "train/run_memory.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/data/batch_prefetcher.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

std::string memory_text(const RunMemory& memory, const Hparams& hparams) {
  return fmt::format(
      "{} of memory, {} planned for batch.micro_batch = {} and {} for batches of batch.global_batch = {}",
      format_bytes(memory.total()), format_bytes(memory.planned), hparams.batch.micro_batch.value,
      format_bytes(memory.batches), hparams.batch.global_batch.value);
}

/// The one thing to change.
std::string advice(const RecipeProgram& recipe, const RunMemory& memory, std::int64_t largest) {
  if (memory.batches > memory.planned) return "lower batch.global_batch";
  if (recipe.memory(1, 1).total() > largest) return "take a smaller recipe or a larger machine";
  return "lower batch.micro_batch, or let the recipe's checkpointing recompute more";
}

}  // namespace

RunMemory run_memory(const RecipeProgram& recipe, const Hparams& hparams) {
  return {.planned = recipe.memory(1, hparams.batch.micro_batch).total(),
          .batches = data::BatchPrefetcher::bytes(hparams.batch.global_batch, recipe.model->context_length,
                                                  recipe.wants_document_starts)};
}

std::optional<std::string> check_memory(const RecipeProgram& recipe, const Hparams& hparams,
                                        const MachineMemory& machine) {
  const RunMemory memory = run_memory(recipe, hparams);
  if (memory.total() > machine.largest)
    throw UsageError(fmt::format("[RUN-16] the run needs {}, and this machine gives {} at most; {}",
                                 memory_text(memory, hparams), format_bytes(machine.largest),
                                 advice(recipe, memory, machine.largest)));
  if (memory.total() <= machine.available) return std::nullopt;
  return fmt::format("[RUN-17] the run needs {}, and {} are available now; it may become slow, or be killed",
                     memory_text(memory, hparams), format_bytes(machine.available));
}

}  // namespace monomorph::train
