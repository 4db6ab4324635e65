#include "train/describe/run_memory.hpp"

#include "train/describe/batch_partition.hpp"
#include "train/describe/memory_advice.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/data/loading/batch_prefetcher.hpp>
#include <monomorph/plan/schedule.hpp>
#include <monomorph/runtime/memory/workspace.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

std::string memory_text(const RunMemory& memory, const Hparams& hparams, int local_ranks) {
  const std::string of_rank = fmt::format(
      "{} of memory, {} planned, {} for kernels and {} for batches that are read ahead{}, with "
      "batch.micro_batch = {}",
      format_bytes(memory.total()), format_bytes(memory.planned), format_bytes(memory.kernels),
      format_bytes(memory.batches),
      memory.staging == 0
          ? ""
          : fmt::format(", {} for a copy of the state (checkpoint.async_save = on)", format_bytes(memory.staging)),
      micro_batch_of(hparams));
  return local_ranks == 1 ? of_rank : fmt::format("{} times {}", local_ranks, of_rank);
}

}  // namespace

plan::Memory planned_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks) {
  return recipe.memory(ranks, micro_batch_of(hparams), tree_levels(hparams, ranks));
}

plan::Memory inference_memory(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch) {
  return recipe.planned.memory(with(recipe.planned.strategy(ranks), plan::Purpose::inference), ranks, micro_batch, 0);
}

std::string planned_text(const plan::Memory& plan) {
  return format_bytes(plan.budgeted()) + " planned" +
         (plan.arena_on_host
              ? ""
              : fmt::format(" of the device's memory and {} of the host's", format_bytes(plan.in_main_memory())));
}

RunMemory run_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks) {
  return run_memory(recipe, hparams, ranks, planned_memory(recipe, hparams, ranks));
}

RunMemory run_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks, const plan::Memory& plan) {
  const plan::Schedule first_stage{micro_batches_per_rank(hparams, ranks), 0, recipe.mesh.pp};
  return {.planned = plan.in_main_memory(),
          .kernels = kernel_workspace_bytes(),
          .batches = data::BatchPrefetcher::bytes(micro_batch_of(hparams), recipe.model->context_length,
                                                  recipe.wants_document_starts, first_stage.in_flight(),
                                                  recipe.sequences_per_sample),
          .staging = hparams.checkpoint.async_save.value == AsyncSave::on ? plan.checkpoint_staging : 0};
}

std::optional<std::string> check_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks, int local_ranks,
                                        const MachineMemory& machine) {
  const RunMemory memory = run_memory(recipe, hparams, ranks);
  const std::int64_t total = local_ranks * memory.total();
  if (total > machine.largest)
    throw UsageError("RUN-16", fmt::format("the run needs {}, and this machine gives {} at most; {}",
                                           memory_text(memory, hparams, local_ranks), format_bytes(machine.largest),
                                           memory_advice(recipe, hparams, ranks,
                                                         [&](const plan::Memory& plan, std::int64_t micro_batch) {
                                                           Hparams tried = hparams;
                                                           tried.batch.micro_batch.value = micro_batch;
                                                           return local_ranks *
                                                                      run_memory(recipe, tried, ranks, plan).total() <=
                                                                  machine.largest;
                                                         })));
  if (total <= machine.available) return std::nullopt;
  return fmt::format("[RUN-17] the run needs {}, and {} are available now; it may become slow, or be killed",
                     memory_text(memory, hparams, local_ranks), format_bytes(machine.available));
}

}  // namespace monomorph::train
