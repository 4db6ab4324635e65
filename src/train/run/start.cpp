#include "train/run/start.hpp"

#include "core/as_usage_error.hpp"
#include "train/describe/batch_partition.hpp"
#include "train/describe/memory_snapshot.hpp"
#include "train/describe/run_memory.hpp"
#include "train/run/data/reference_sets.hpp"
#include "train/run/fitting_step.hpp"
#include "train/run/resumed_state.hpp"
#include "train/run/saving/best_counter.hpp"
#include "train/run/weights/start_weights.hpp"
#include "train/run/weights/teacher_weights.hpp"
#include "train/step/loss_scale.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/comm/together.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

/// Loads a checkpoint and returns the state of its run. Absent if it is damaged and checkpoint.resume=auto has found
/// it: all ranks take an earlier checkpoint, because every restart of the job would find the same damage.
std::optional<RunState> state_to_start_from(const RecipeProgram& recipe, const Hparams& hparams,
                                            const std::string& checkpoint, const RunData& data, TrainingStep& step,
                                            Communicator& communicator) {
  together(communicator, "compare the data with the checkpoint's", [&] { data.check_same_files(checkpoint); });
  const auto on_damage = hparams.checkpoint.resume.value == "auto" ? OnDamage::warn : OnDamage::fail;
  const auto state = resumed_state(checkpoint, recipe, hparams, step, communicator, on_damage);
  if (state) data.check_epochs(*state, hparams);
  return state;
}

/// A run that is resumed has its own weights. Its checkpoints go on to say with which ones it began, by which an export
/// of adapters names their base.
void keep_first_weights(const std::string& checkpoint, const RecipeProgram& recipe, Hparams& hparams,
                        std::vector<std::string>& notes) {
  const WeightsHparams saved = checkpoint_hparams(checkpoint, recipe).weights;
  WeightsHparams& here = hparams.weights;
  if (!here.from.value.empty() && here.from.value != saved.from.value)
    notes.push_back(fmt::format("weights.from={} counts for new runs; this one is resumed, and began with {}",
                                in_quotes(here.from.value),
                                saved.from.value.empty() ? "initialised weights" : in_quotes(saved.from.value)));
  here.from.value = saved.from.value;
  here.vocabulary.value = saved.vocabulary.value;
  here.positions.value = saved.positions.value;
}

}  // namespace

Start start_run(const RecipeProgram& recipe, Hparams hparams, const World& world, Communicator& communicator,
                const std::string& memory_snapshot_file) {
  ResumeDecision resume = together(communicator, "find the checkpoint to resume from",
                                   [&] { return resolve_resume_together(recipe, hparams, world); });
  if (resume.checkpoint)
    together(communicator, "read with which weights the run began",
             [&] { keep_first_weights(*resume.checkpoint, recipe, hparams, resume.notes); });
  const LaunchedRanks ranks{world.size(), world.local_size()};
  const auto choice = choose_micro_batch_together(recipe, hparams, resume.checkpoint, ranks, communicator);
  if (choice) hparams.batch.micro_batch.value = choice->micro_batch;
  std::vector<std::string> notes;  // which stay if the run resumes from another checkpoint
  const bool saving_was_chosen = choose_async_save_together(recipe, hparams, ranks, communicator, notes);
  note_memory(recipe, hparams, ranks, notes);
  RunData data(recipe, hparams);
  if (!resume.checkpoint) data.check_epochs({}, hparams);
  notes.insert(notes.end(), data.notes.begin(), data.notes.end());
  auto step = make_fitting_step(recipe, hparams, choice, communicator, notes);
  auto staged = make_staged_state(recipe, hparams, saving_was_chosen, *step, communicator, notes);
  if (world.rank() == 0 && !memory_snapshot_file.empty())
    as_usage_error("--memory-snapshot", [&] {
      const int levels = tree_levels(hparams, communicator.size());
      write_text_file(memory_snapshot_file,
                      memory_snapshot(recipe, {communicator.size(), micro_batch_of(hparams), levels}));
    });
  std::optional<RunState> state;
  if (!resume.checkpoint) {
    state = {.loss_scale = initial_loss_scale(recipe.compute_dtype, hparams.loss_scale)};
    for (std::string& line : load_start_weights(recipe, hparams, *step, communicator))
      resume.notes.push_back(std::move(line));
    check_reference(recipe, hparams, *step, communicator);
  }
  while (!state) {
    state = state_to_start_from(recipe, hparams, *resume.checkpoint, data, *step, communicator);
    if (!state)
      resume = together(communicator, "find an earlier checkpoint",
                        [&] { return resolve_resume_together(recipe, hparams, world, resume.checkpoint); });
    else if (auto line = note_other_best(*resume.checkpoint, recipe, hparams))
      notes.push_back(std::move(*line));
  }
  for (std::string& line : load_teacher(recipe, hparams, *step, communicator, *state, resume.checkpoint.has_value()))
    resume.notes.push_back(std::move(line));
  std::ranges::move(notes, std::back_inserter(resume.notes));
  return {std::move(hparams), std::move(resume), std::move(data), std::move(step), std::move(staged), *state};
}

}  // namespace monomorph::train
