#include "train/run/fitting_step.hpp"

#include "train/describe/batch_partition.hpp"
#include "train/describe/memory_advice.hpp"

#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <string_view>

namespace monomorph::train {
namespace {

/// What to do about it. Why a system gives less main memory than it has is for its administrator to say, so that no
/// change is sure to fit; of a device it is known what is free.
std::string advice(const Error& refusal, const RecipeProgram& recipe, const Hparams& hparams, int ranks) {
  if (refusal.id() == "GPU-05") {
    const std::int64_t free = free_device_memory(recipe);
    return memory_advice(recipe, hparams, ranks,
                         [free](const plan::Memory& memory, std::int64_t) { return memory.budgeted() <= free; });
  }
  return largest_parts(recipe.memory(ranks, micro_batch_of(hparams), tree_levels(hparams, ranks))) +
         "; lower batch.micro_batch, or let the recipe's checkpointing recompute more";
}

Owned<TrainingStep> make_step(const RecipeProgram& recipe, const Hparams& hparams, Communicator& communicator) try {
  Owned<TrainingStep> step =
      recipe.make_step(communicator, micro_batch_of(hparams), static_cast<std::uint64_t>(hparams.run.seed.value),
                       tree_levels(hparams, communicator.size()), hparams.loss.policy);
  step->take_teacher();
  return step;
} catch (const UsageError& error) {
  if (!is_refused_memory(error)) throw;
  throw with_memory_advice(error, recipe, hparams, communicator.size());
}

/// The step, or why memory was refused.
struct Attempt {
  Owned<TrainingStep> step;
  std::optional<UsageError> refusal;
};
Attempt attempt_step(const RecipeProgram& recipe, const Hparams& hparams, Communicator& communicator) {
  try {
    return {make_step(recipe, hparams, communicator), std::nullopt};
  } catch (const UsageError& error) {
    if (!is_refused_memory(error)) throw;
    return {nullptr, error};
  }
}

}  // namespace

bool is_refused_memory(const Error& error) {
  return error.id() == "ARENA-02" || error.id() == "GPU-05" || error.id() == "GPU-06";
}

UsageError with_memory_advice(const UsageError& refusal, const RecipeProgram& recipe, Hparams hparams, int ranks) {
  if (!hparams.batch.micro_batch.value) hparams.batch.micro_batch.value = 1;
  return {refusal.id(), fmt::format("{}; {}", refusal.text(), advice(refusal, recipe, hparams, ranks))};
}

std::optional<MicroBatchChoice> choose_micro_batch(const RecipeProgram& recipe, const Hparams& hparams,
                                                   const std::optional<std::string>& checkpoint, LaunchedRanks ranks,
                                                   FreeMemory (*memory_of)(const RecipeProgram&)) {
  if (hparams.batch.micro_batch.value) return std::nullopt;
  const OptionalCount of_checkpoint =
      checkpoint ? checkpoint_hparams(*checkpoint, recipe).batch.micro_batch.value : std::nullopt;
  return choose_micro_batch(recipe, hparams, ranks, memory_of(recipe), of_checkpoint);
}

std::optional<MicroBatchChoice> choose_micro_batch_together(const RecipeProgram& recipe, const Hparams& hparams,
                                                            const std::optional<std::string>& checkpoint,
                                                            LaunchedRanks ranks, Communicator& communicator) {
  auto choice = together(communicator, "choose the micro-batch",
                         [&] { return choose_micro_batch(recipe, hparams, checkpoint, ranks, free_memory); });
  if (!choice) return std::nullopt;
  const std::int64_t least = std::ranges::min(all_gather_words(communicator, {&choice->micro_batch, 1}));
  if (least < choice->micro_batch) choice->reason += " of the rank that has least";
  choice->micro_batch = least;
  return choice;
}

Owned<TrainingStep> make_fitting_step(const RecipeProgram& recipe, Hparams& hparams,
                                      std::optional<MicroBatchChoice> choice, Communicator& communicator,
                                      std::vector<std::string>& notes) {
  constexpr std::string_view what = "take the memory for the step";
  if (!choice) return together(communicator, what, [&] { return make_step(recipe, hparams, communicator); });
  for (;;) {
    hparams.batch.micro_batch.value = choice->micro_batch;
    const bool can_shrink = choice->may_shrink && choice->micro_batch > 1;
    Attempt attempt = together(communicator, what, [&] {
      Attempt made = attempt_step(recipe, hparams, communicator);
      if (made.refusal && !can_shrink) throw *made.refusal;
      return made;
    });
    if (!can_shrink || !any_rank(communicator, attempt.refusal.has_value())) {
      notes.push_back(text_of(*choice));
      return std::move(attempt.step);
    }
    choice->reason = fmt::format("as the memory for {} was refused", choice->micro_batch);
    choice->micro_batch =
        largest_micro_batch(hparams.batch.global_batch, communicator.size(), choice->micro_batch - 1).value_or(1);
  }
}

}  // namespace monomorph::train
