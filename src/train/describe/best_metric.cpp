#include "train/describe/best_metric.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {
namespace {

bool predicts_from_tokens_before(const RecipeProgram& recipe) {
  return recipe.objective.over_tokens && recipe.predicts_next_token;
}

/// What evaluations of a run report, by the names that EvaluationResult::reported() has.
std::vector<ObjectiveMetric> reported_metrics(const RecipeProgram& recipe, const Hparams& hparams) {
  const auto falls = [](std::string_view name) { return ObjectiveMetric{.name = name, .best = BestValue::lowest}; };
  std::vector<ObjectiveMetric> metrics{falls("loss")};
  if (recipe.objective.over_tokens) metrics.push_back(falls("perplexity"));
  if (predicts_from_tokens_before(recipe) && !hparams.data.tokenizer.value.empty())
    metrics.push_back(falls("bits_per_byte"));
  std::ranges::copy(recipe.objective.metrics, std::back_inserter(metrics));
  return metrics;
}

}  // namespace

BestValue best_value(const RecipeProgram& recipe, const Hparams& hparams) {
  const CheckpointHparams& checkpoint = hparams.checkpoint;
  if (checkpoint.best_is.value != BestValue::unsaid) return checkpoint.best_is.value;
  const std::vector<ObjectiveMetric> reported = reported_metrics(recipe, hparams);
  const auto metric = std::ranges::find(reported, checkpoint.best_metric.value, &ObjectiveMetric::name);
  return metric == reported.end() ? BestValue::unsaid : metric->best;
}

void check_best_metric(const RecipeProgram& recipe, const Hparams& hparams) {
  const std::string& metric = hparams.checkpoint.best_metric.value;
  std::vector<std::string_view> reported;
  for (const ObjectiveMetric& one : reported_metrics(recipe, hparams)) reported.push_back(one.name);
  if (std::ranges::find(reported, metric) == reported.end()) {
    const bool lacks_tokenizer = metric == "bits_per_byte" && predicts_from_tokens_before(recipe);
    throw UsageError("HPARAM-23",
                     fmt::format("checkpoint.best_metric = {} must be what evaluations of {} report; give one of {}{}",
                                 in_quotes(metric), recipe.name, fmt::join(reported, ", "),
                                 lacks_tokenizer ? ", or data.tokenizer, by which bytes are counted" : ""));
  }
  if (best_value(recipe, hparams) == BestValue::unsaid)
    throw UsageError("HPARAM-24",
                     fmt::format("checkpoint.best_is must be \"lowest\" or \"highest\", as checkpoint.best_metric = {} "
                                 "does not say which of its values is the best",
                                 in_quotes(metric)));
}

}  // namespace monomorph::train
