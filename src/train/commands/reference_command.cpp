#include "train/commands/reference_command.hpp"

#include "train/commands/checkpoint_options.hpp"
#include "train/run/as_usage_error.hpp"
#include "train/run/held_out_sets.hpp"
#include "train/run/start_weights.hpp"
#include "train/run/with_hint.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/reference_scores.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/inference/sequence_scores.hpp>

#include <fmt/format.h>

#include <algorithm>
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

/// Of training and of evaluation, each once.
HeldOutSets all_sets(const RecipeProgram& recipe, const Hparams& hparams) {
  NamedPaths of_training;
  for (const WeightedPath& path : hparams.data.train.value) of_training.push_back({.name = {}, .path = path.path});
  HeldOutSets sets = open_held_out_sets(recipe, hparams.loss.policy, of_training, "data.train", Reference::is_made);
  for (HeldOutSet& set : open_held_out_sets(recipe, hparams.loss.policy, hparams.data.evaluation.value,
                                            "data.evaluation", Reference::is_made)) {
    const auto has_its_path = [&](const HeldOutSet& other) {
      return other.loader.set().file().path() == set.loader.set().file().path();
    };
    if (std::ranges::none_of(sets, has_its_path)) sets.push_back(std::move(set));
  }
  return sets;
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

}  // namespace

int run_reference(const RecipeProgram& recipe, const Hparams& hparams) {
  check_has_reference(recipe, hparams);
  const HeldOutSets sets = all_sets(recipe, hparams);
  const auto communicator = one_rank();
  const std::int64_t micro_batch = micro_batch_of(hparams);
  const auto step = with_hint("lower batch.micro_batch, or take a machine with more memory", [&] {
    return recipe.make_step(*communicator, micro_batch, static_cast<std::uint64_t>(hparams.run.seed.value), 0,
                            hparams.loss.policy);
  });
  for (const std::string& line : load_start_weights(recipe, hparams, *step, *communicator)) show(line + "\n");
  const std::int64_t sequences = recipe.sequences_per_sample;
  for (const auto& [name, loader] : sets) {
    const std::vector<double> scores = sequence_scores(*step, loader, micro_batch, sequences);
    check_numbers(scores, loader.set(), sequences);
    data::write_reference_scores(loader.set(), sequences, scores);
    show(fmt::format("{}: log-probabilities of {} samples of {} sequences\n",
                     data::reference_scores_path(loader.set().file().path()), loader.set().n_samples(), sequences));
  }
  return 0;
}

}  // namespace monomorph::train
