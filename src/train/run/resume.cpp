#include "train/run/resume.hpp"

#include "train/describe/run_memory.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/run/folder/run_folder.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>

#include <functional>

namespace monomorph::train {
namespace {

/// A job that is started again and again has checkpoint.resume=auto every time, and the first time there is no
/// checkpoint yet.
std::optional<std::string> latest_of_run(const Hparams& hparams, std::vector<std::string>& notes) {
  const std::string folder = checkpoint_folder(hparams);
  if (runtime::has_checkpoints(folder)) return find_checkpoint(folder);
  notes.push_back("no checkpoint in " + in_quotes(folder) + " yet: starting from the beginning");
  return std::nullopt;
}

std::optional<std::string> checkpoint_to_resume(const Hparams& hparams, std::vector<std::string>& notes) {
  const std::string& resume = hparams.checkpoint.resume.value;
  if (resume == "none") return std::nullopt;
  if (resume == "auto") return latest_of_run(hparams, notes);
  return find_checkpoint(resume);
}

/// The latest checkpoint of the run, or the latest before a step. Those that are broken are passed over and named.
std::optional<std::string> latest_whole(const Hparams& hparams, std::optional<std::int64_t> before = std::nullopt) {
  std::vector<std::string> broken;
  const auto latest = runtime::latest_checkpoint(checkpoint_folder(hparams), &broken, before);
  for (const std::string& line : broken) write_error_line("warning: " + line);
  return latest;
}

/// @throws [CHECKPOINT-05]
std::string earlier_checkpoint(const Hparams& hparams, const std::string& damaged) {
  const auto earlier = latest_whole(hparams, runtime::read_checkpoint_metadata(damaged).step);
  if (!earlier)
    throw Error("CHECKPOINT-05", fmt::format("{} is damaged, and there is no earlier checkpoint in {}; start afresh in "
                                             "another run.output_dir, or bring a copy back",
                                             in_quotes(damaged), in_quotes(checkpoint_folder(hparams))));
  return *earlier;
}

/// Notes a changed seed, from which the order of the data and dropout are drawn.
void note_seed(const std::string& checkpoint, const RecipeProgram& recipe, const Hparams& hparams,
               std::vector<std::string>& notes) {
  const std::int64_t saved = checkpoint_hparams(checkpoint, recipe).run.seed, here = hparams.run.seed;
  if (saved != here)
    notes.push_back(
        fmt::format("run.seed is {}, and was {} when the checkpoint was saved: from here on the data come in "
                    "another order, and what was left of an epoch is drawn anew",
                    here, saved));
}

/// What rank 0 finds, for all ranks, under a key that is used once.
std::optional<std::string> agreed_path(const World& world, const std::string& key,
                                       const std::function<std::optional<std::string>()>& find) {
  const std::string from = "from ";  // before the path: some stores keep no empty value
  if (world.rank() > 0) {
    const std::string path = world.get(key, 0).substr(from.size());
    return path.empty() ? std::nullopt : std::optional(path);
  }
  try {
    const std::optional<std::string> found = find();
    world.set(key, from + found.value_or(""));
    return found;
  } catch (...) {
    world.set(key, from);  // so that no rank waits for it; the caller tells the others of the failure
    throw;
  }
}

}  // namespace

ResumeDecision resolve_resume(const RecipeProgram& recipe, const Hparams& hparams,
                              const std::optional<std::string>& damaged) {
  ResumeDecision resume;
  resume.checkpoint = damaged ? earlier_checkpoint(hparams, *damaged) : checkpoint_to_resume(hparams, resume.notes);
  if (resume.checkpoint) check_resumable(*resume.checkpoint);
  if (resume.checkpoint)
    if (const auto difference = check_recipe(*resume.checkpoint, recipe)) resume.notes.push_back(*difference);
  if (resume.checkpoint) note_seed(*resume.checkpoint, recipe, hparams, resume.notes);
  RunFolder::check_free(hparams, resume.checkpoint);
  return resume;
}

ResumeDecision resolve_resume_together(const RecipeProgram& recipe, const Hparams& hparams, const World& world,
                                       const std::optional<std::string>& damaged) {
  ResumeDecision resume;
  resume.checkpoint = agreed_path(world, "checkpoint instead of " + damaged.value_or("none"), [&] {
    resume = resolve_resume(recipe, hparams, damaged);
    return resume.checkpoint;
  });
  return resume;
}

std::optional<std::string> latest_together(const Hparams& hparams, const World& world, std::int64_t samples,
                                           const std::optional<std::string>& damaged) {
  const std::string key =
      fmt::format("checkpoint to go back to from sample {} instead of {}", samples, damaged.value_or("none"));
  return agreed_path(world, key,
                     [&] { return damaged ? earlier_checkpoint(hparams, *damaged) : latest_whole(hparams); });
}

void note_memory(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks,
                 std::vector<std::string>& notes) {
  if (const auto warning = check_memory(recipe, hparams, ranks.all, ranks.local, machine_memory()))
    notes.push_back("warning: " + *warning);
}

}  // namespace monomorph::train
