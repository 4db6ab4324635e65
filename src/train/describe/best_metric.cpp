#include "train/describe/best_metric.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

using KnownValue = std::pair<std::string_view, BestValue>;
/// All that evaluations report of the model that is trained. A teacher's loss is not of it.
constexpr auto known_values = std::to_array<KnownValue>({{"loss", BestValue::lowest},
                                                         {"perplexity", BestValue::lowest},
                                                         {"bits_per_byte", BestValue::lowest},
                                                         // ContrastivePairs and Preferences
                                                         {"accuracy", BestValue::highest},
                                                         {"margin", BestValue::highest},
                                                         {"chosen_reward", BestValue::highest},
                                                         {"rejected_reward", BestValue::lowest},
                                                         // Distillation
                                                         {"cross_entropy", BestValue::lowest},
                                                         {"divergence", BestValue::lowest},
                                                         {"agreement", BestValue::highest}});

bool predicts_from_tokens_before(const RecipeProgram& recipe) {
  return recipe.objective.over_tokens && recipe.predicts_next_token;
}

/// The names of what evaluations of a run report, as EvaluationResult::reported() has them.
std::vector<std::string_view> reported_metrics(const RecipeProgram& recipe, const Hparams& hparams) {
  std::vector<std::string_view> names{"loss"};
  if (recipe.objective.over_tokens) names.emplace_back("perplexity");
  if (predicts_from_tokens_before(recipe) && !hparams.data.tokenizer.value.empty()) names.emplace_back("bits_per_byte");
  for (const ObjectiveMetric& metric : recipe.objective.metrics) names.push_back(metric.name);
  return names;
}

}  // namespace

BestValue best_value(const CheckpointHparams& hparams) {
  if (hparams.best_is.value != BestValue::automatic) return hparams.best_is.value;
  const auto* const known = std::ranges::find(known_values, hparams.best_metric.value, &KnownValue::first);
  return known == known_values.end() ? BestValue::automatic : known->second;
}

void check_best_metric(const RecipeProgram& recipe, const Hparams& hparams) {
  const std::string& metric = hparams.checkpoint.best_metric.value;
  const std::vector<std::string_view> reported = reported_metrics(recipe, hparams);
  if (std::ranges::find(reported, metric) == reported.end()) {
    const bool lacks_tokenizer = metric == "bits_per_byte" && predicts_from_tokens_before(recipe);
    throw UsageError("HPARAM-23",
                     fmt::format("checkpoint.best_metric = {} must be what evaluations of {} report; give one of {}{}",
                                 in_quotes(metric), recipe.name, fmt::join(reported, ", "),
                                 lacks_tokenizer ? ", or data.tokenizer, by which bytes are counted" : ""));
  }
  if (best_value(hparams.checkpoint) == BestValue::automatic)
    throw UsageError("HPARAM-24",
                     fmt::format("checkpoint.best_is must be \"lowest\" or \"highest\", as it is not known which value "
                                 "of checkpoint.best_metric = {} is the best",
                                 in_quotes(metric)));
}

}  // namespace monomorph::train
