#include "train/run/data/reference_sets.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/reference_scores.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/train/inference/sequence_scores.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monomorph::train {
namespace {

/// Precisions, numbers of samples at a time and instruction sets make log-probabilities of the same weights differ by
/// less than this share of them, and by less than this much a sequence; other weights by more.
constexpr double most_rounding = 0.05;

void check_set(const data::EvaluationLoader& loader, const ComparedScores& compared, const std::string& weights) {
  // A NaN compares false, so that it is refused as well.
  if (compared.apart <= most_rounding * (std::abs(compared.reference) + static_cast<double>(compared.sequences)))
    return;
  const std::string& set = loader.set().file().path();
  throw UsageError(
      "PREF-12",
      fmt::format("the scores {} are not of the weights that the run starts from, {}: the first {} samples of {} have "
                  "log-probabilities of {:.4g} together by the scores, and of {:.4g} by these weights; make them again "
                  "with the recipe's command reference, or name the weights that they are of as weights.from",
                  in_quotes(data::reference_scores_path(set)),
                  weights.empty() ? "as weights.from is empty" : in_quotes(weights), compared.samples, in_quotes(set),
                  compared.reference, compared.own));
}

}  // namespace

HeldOutSets open_reference_sets(const RecipeProgram& recipe, const Hparams& hparams, Reference reference) {
  NamedPaths of_training;
  for (const WeightedPath& path : hparams.data.train.value) of_training.push_back({.name = {}, .path = path.path});
  HeldOutSets sets = open_held_out_sets(recipe, hparams.loss.policy, of_training, "data.train", reference);
  for (HeldOutSet& set :
       open_held_out_sets(recipe, hparams.loss.policy, hparams.data.evaluation.value, "data.evaluation", reference)) {
    const auto has_its_path = [&](const HeldOutSet& other) {
      return other.loader.set().file().path() == set.loader.set().file().path();
    };
    if (std::ranges::none_of(sets, has_its_path)) sets.push_back(std::move(set));
  }
  return sets;
}

void check_reference(const RecipeProgram& recipe, const Hparams& hparams, TrainingStep& step,
                     Communicator& communicator) {
  if (recipe.sequences_per_sample == 0) return;
  const HeldOutSets sets = together(communicator, "open the scores of the reference",
                                    [&] { return open_reference_sets(recipe, hparams, Reference::is_there); });
  for (const auto& [name, loader] : sets)
    check_set(loader, compare_first_samples(step, loader, micro_batch_of(hparams), recipe.sequences_per_sample),
              hparams.weights.from.value);
}

}  // namespace monomorph::train
