#include <monomorph/train/commands/check.hpp>

#include "train/describe/async_save_choice.hpp"
#include "train/describe/batch_partition.hpp"
#include "train/describe/run_memory.hpp"
#include "train/run/data/run_data.hpp"
#include "train/run/fitting_step.hpp"
#include "train/run/folder/run_ownership.hpp"
#include "train/run/ranks/config_consistency.hpp"
#include "train/run/ranks/connect_data_parallel.hpp"
#include "train/run/resume.hpp"
#include "train/run/weights/start_weights.hpp"
#include "train/run/weights/teacher_weights.hpp"

#include <monomorph/core/quantity_text.hpp>
#include <monomorph/runtime/comm/collectives_check.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monomorph::train {
namespace {

std::string speed(double bytes_per_second) { return fmt::format("{:.3g} GB/s", bytes_per_second / 1e9); }

/// A checkpoint may take hours to read, so only its metadata and the sizes of its files were looked at.
std::string describe_resume(const ResumeDecision& resume, const Hparams& hparams) {
  const std::string& weights = hparams.weights.from.value;
  if (!resume.checkpoint) return weights.empty() ? "starts afresh" : "starts from the weights in " + weights;
  return fmt::format(
      "resumes from {}, whose files have the sizes that they were saved with; their checksums are compared when the "
      "run reads them, or by monomorph-checkpoint verify",
      *resume.checkpoint);
}

void check_data_goes_on(const RunData& data, const std::string& checkpoint, const Hparams& hparams) {
  data.check_same_files(checkpoint);
  const runtime::CheckpointMetadata metadata = runtime::read_checkpoint_metadata(checkpoint);
  RunState from;
  from.step = metadata.step;
  from.samples = metadata.sample_counter;
  data.check_epochs(from, hparams);
}

std::string held_out_text(const RecipeProgram& recipe, const HeldOutSets& sets) {
  const std::string_view counted = !recipe.objective.over_tokens ? "samples"
                                   : recipe.predicts_next_token  ? "targets"
                                                                 : "tokens that may be targets";
  if (sets.empty()) return fmt::format("  held-out {} 0\n", counted);
  std::string text;
  for (const auto& [name, loader] : sets)
    text += fmt::format("  held-out {} {}{}\n", counted,
                        recipe.objective.over_tokens ? loader.n_counted() : loader.set().n_samples(),
                        name.empty() ? "" : " of " + name);
  return text;
}

/// What the result of an objective over embeddings depends on besides the batch.
std::string compared_text(const RecipeProgram& recipe, const Hparams& hparams, int ranks) {
  if (recipe.output != ModelOutput::embeddings) return "";
  return fmt::format("  each sample is compared with {} others, batch.micro_batch x ranks - 1\n",
                     micro_batch_of(hparams) * ranks - 1);
}

}  // namespace

std::string check(const RecipeProgram& recipe, Hparams hparams, LaunchedRanks ranks) {
  const RunOwnership ownership(hparams);
  ResumeDecision resume = resolve_resume(recipe, hparams);
  if (const auto choice = choose_micro_batch(recipe, hparams, resume.checkpoint, ranks, free_memory_if_known)) {
    hparams.batch.micro_batch.value = choice->micro_batch;
    resume.notes.push_back(text_of(*choice));
  }
  if (const auto reason = choose_async_save(recipe, hparams, ranks, machine_memory().available))
    resume.notes.push_back(async_save_is_off(*reason));
  note_memory(recipe, hparams, ranks, resume.notes);
  if (!resume.checkpoint)
    for (std::string& line : check_start_weights(recipe, hparams)) resume.notes.push_back(std::move(line));
  for (std::string& line : check_teacher(recipe, hparams)) resume.notes.push_back(std::move(line));
  const RunData data(recipe, hparams);
  resume.notes.insert(resume.notes.end(), data.notes.begin(), data.notes.end());
  if (resume.checkpoint)
    check_data_goes_on(data, *resume.checkpoint, hparams);
  else
    data.check_epochs({}, hparams);
  const std::int64_t batch = hparams.batch.global_batch;
  const std::int64_t micro_batches = micro_batches_per_rank(hparams, ranks.all);
  std::string text = fmt::format(
      "recipe {} accepts these hyperparameters\n  steps {}, {} tokens each, in {} of {} sequences{}\n{}  {}{}\n"
      "{}{}  {}\n",
      recipe.name, hparams.run.steps.value, batch * recipe.model->context_length,
      micro_batches == 1 ? "one micro-batch" : fmt::format("{} micro-batches", micro_batches), micro_batch_of(hparams),
      ranks.all == 1 ? "" : " of each rank", data.describe_sets(hparams.run.steps * batch),
      planned_text(planned_memory(recipe, hparams, ranks.all)),
      ranks.all == 1 ? "" : fmt::format(" on each of {} ranks", ranks.all), held_out_text(recipe, data.held_out),
      compared_text(recipe, hparams, ranks.all), describe_resume(resume, hparams));
  for (const std::string& note : resume.notes) text += "  " + note + "\n";
  return text;
}

std::string check_collectives(const RecipeProgram& recipe, const Hparams& hparams) {
  const World world = connect(std::chrono::seconds(hparams.failure.rank_timeout));
  check_config_consistency(world, recipe, hparams);
  if (world.size() == 1) return "one rank: there are no collectives\n";
  const auto communicator = connect_data_parallel(recipe, hparams, world);
  const CollectivesCheck found =
      monomorph::check_collectives(*communicator, dynamic_cast<CheckedCommunicator&>(*communicator));
  if (world.rank() > 0) return "";
  std::string text = fmt::format("{} ranks, every result right\n", world.size());
  for (const CollectiveMeasure& measure : found.collectives)
    text += fmt::format("  {:<58} {}\n", fmt::format("{}, ranks {}", measure.what, fmt::join(measure.ranks, ", ")),
                        speed(measure.bytes_per_second));
  const auto pair = [&](const char* what, const PairMeasure& measure) {
    text += fmt::format("  {:<58} {}\n", fmt::format("{} pair: ranks {} and {}", what, measure.first, measure.second),
                        speed(measure.bytes_per_second));
  };
  pair("slowest", found.slowest);
  pair("fastest", found.fastest);
  return text;
}

}  // namespace monomorph::train
