#include "train/commands/reference_command.hpp"

#include "train/commands/checkpoint_options.hpp"
#include "train/commands/forward_memory.hpp"
#include "train/run/data/reference_sets.hpp"
#include "train/run/ranks/connect_data_parallel.hpp"
#include "train/run/ranks/peer_failure.hpp"
#include "train/run/weights/start_weights.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/reference_scores.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/inference/sequence_scores.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace monomorph::train {
namespace {

void check_has_reference(const RecipeProgram& recipe, const Hparams& hparams) {
  if (recipe.sequences_per_sample == 0)
    throw UsageError("PREF-09",
                     fmt::format("reference must have a recipe whose objective is over sequences, such as Preferences, "
                                 "and that of {} is not; take another recipe",
                                 recipe.name));
  if (hparams.weights.from.value.empty())
    throw UsageError("PREF-10",
                     "the reference is the model that training starts from; name a checkpoint or a folder as "
                     "weights.from");
}

void check_numbers(std::span<const double> scores, const data::TokenDataset& set, std::int64_t sequences) {
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!std::isfinite(scores[i]))
      throw Error("PREF-11",
                  fmt::format("sequence {} of sample {} of {} has the log-probability {}; take other weights, "
                              "or a wider precision",
                              static_cast<std::int64_t>(i) % sequences, static_cast<std::int64_t>(i) / sequences,
                              in_quotes(set.file().path()), scores[i]));
}

/// @return a line for each set
std::string score_with(TrainingStep& step, const RecipeProgram& recipe, const Hparams& hparams, const HeldOutSets& sets,
                       Communicator& communicator, bool writes_files) {
  const std::int64_t micro_batch = micro_batch_of(hparams), sequences = recipe.sequences_per_sample;
  std::string text;
  for (const std::string& line : load_start_weights(recipe, hparams, step, communicator)) text += line + "\n";
  for (const auto& [name, loader] : sets) {
    const std::vector<double> scores = sequence_scores(step, communicator, loader, micro_batch, sequences);
    together(communicator, "write the scores", [&, &set = loader.set()] {
      check_numbers(scores, set, sequences);
      if (writes_files) data::write_reference_scores(set, sequences, scores);
    });
    text += fmt::format("{}: log-probabilities of {} samples of {} sequences\n",
                        data::reference_scores_path(loader.set().file().path()), loader.set().n_samples(), sequences);
  }
  return text;
}

std::string score_sets(const RecipeProgram& recipe, const Hparams& hparams, Communicator& communicator,
                       bool writes_files) {
  const HeldOutSets sets =
      together(communicator, "read the sets", [&] { return open_reference_sets(recipe, hparams, Reference::is_made); });
  const auto advise = [&](const UsageError& refusal) {
    return with_memory_advice(refusal, recipe, hparams, communicator.size());
  };
  return advised_on_memory(advise, [&](bool& begun) {
    const auto step = together(communicator, "take memory for the model", [&] {
      return recipe.make_step(communicator, micro_batch_of(hparams), static_cast<std::uint64_t>(hparams.run.seed.value),
                              0, hparams.loss.policy);
    });
    begun = true;
    return score_with(*step, recipe, hparams, sets, communicator, writes_files);
  });
}

}  // namespace

void check_reference_command(const RecipeProgram& recipe, const Hparams& hparams) {
  check_has_reference(recipe, hparams);
  open_reference_sets(recipe, hparams, Reference::is_made);
  check_start_weights(recipe, hparams);
}

int run_reference(const RecipeProgram& recipe, const Hparams& hparams) {
  check_has_reference(recipe, hparams);
  const World world = connect(std::chrono::seconds(hparams.failure.rank_timeout));
  const auto communicator = connect_data_parallel(recipe, hparams, world);
  try {
    const std::string text = score_sets(recipe, hparams, *communicator, world.rank() == 0);
    if (world.rank() == 0) show(text);
    return 0;
  } catch (const RankFailure& failure) {
    exit_on_peer_failure(world, failure, "scoring sequences");
  }
}

}  // namespace monomorph::train
