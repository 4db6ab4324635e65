#include "train/describe/best_metric.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/objective/contrastive_pairs.hpp>
#include <monomorph/objective/distillation.hpp>
#include <monomorph/objective/preferences.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

RecipeProgram recipe_of(const std::vector<ObjectiveMetric>& metrics, bool over_tokens) {
  RecipeProgram recipe;
  recipe.name = "measured";
  recipe.objective = {.metrics = metrics, .over_tokens = over_tokens};
  return recipe;
}

template <class Objective> RecipeProgram recipe_with(bool over_tokens) {
  return recipe_of({Objective::metrics.begin(), Objective::metrics.end()}, over_tokens);
}

Hparams by(const std::string& metric, BestValue best = BestValue::unsaid, const std::string& tokenizer = "") {
  Hparams hparams;
  hparams.checkpoint.best_metric.value = metric;
  hparams.checkpoint.best_is.value = best;
  hparams.data.tokenizer.value = tokenizer;
  return hparams;
}

std::string refusal(const RecipeProgram& recipe, const Hparams& hparams) {
  return error_of([&] { check_best_metric(recipe, hparams); });
}

}  // namespace

TEST_CASE("of every metric that an evaluation reports of what is trained it is known which value is the best") {
  const auto best_of = [](const RecipeProgram& recipe, const std::string& metric) {
    const Hparams hparams = by(metric, BestValue::unsaid, "tokenizer.json");
    CHECK(refusal(recipe, hparams) == "(no error)");
    return best_value(recipe, hparams);
  };
  for (const char* const metric : {"loss", "perplexity", "bits_per_byte"})
    CHECK(best_of(recipe_of({}, true), metric) == BestValue::lowest);
  const auto taught = recipe_with<objective::Distillation<void>>(true);
  const auto preferring = recipe_with<objective::Preferences>(false);
  for (const char* const metric : {"cross_entropy", "divergence"}) CHECK(best_of(taught, metric) == BestValue::lowest);
  CHECK(best_of(taught, "agreement") == BestValue::highest);
  for (const char* const metric : {"accuracy", "margin", "chosen_reward"})
    CHECK(best_of(preferring, metric) == BestValue::highest);
  CHECK(best_of(preferring, "rejected_reward") == BestValue::lowest);
  CHECK(best_of(recipe_with<objective::ContrastivePairs>(false), "accuracy") == BestValue::highest);
}

TEST_CASE("what evaluations of a recipe do not report is refused, and what they report is named") {
  const std::string of_tokens = refusal(recipe_of({}, true), by("accuracy", BestValue::highest, "tokenizer.json"));
  CHECK(of_tokens.starts_with("[HPARAM-23] checkpoint.best_metric = \"accuracy\" must be"));
  CHECK(contains(of_tokens, "of measured report; give one of loss, perplexity, bits_per_byte"));
  CHECK(contains(refusal(recipe_of({}, true), by("bits_per_byte")), "loss, perplexity, or data.tokenizer"));
  CHECK(contains(refusal(recipe_with<objective::Preferences>(false), by("perplexity")),
                 "give one of loss, accuracy, margin, chosen_reward, rejected_reward"));
  RecipeProgram masked = recipe_of({}, true);
  masked.predicts_next_token = false;
  CHECK(refusal(masked, by("bits_per_byte", BestValue::lowest, "tokenizer.json")).ends_with("of loss, perplexity"));
  for (const char* const metric : {"", "Loss", "loss ", "evaluation_loss", "tokens"})
    CHECK(refusal(recipe_of({}, true), by(metric)).starts_with("[HPARAM-23]"));
}

TEST_CASE("of an objective's own metric the objective says which value is the best, or the hyperparameters must") {
  const RecipeProgram recipe = recipe_of({{"surprise"}}, true);
  CHECK(refusal(recipe, by("surprise")).starts_with("[HPARAM-24] checkpoint.best_is must be \"lowest\" or"));
  for (const BestValue best : {BestValue::lowest, BestValue::highest}) {
    CHECK(refusal(recipe, by("surprise", best)) == "(no error)");
    CHECK(best_value(recipe, by("surprise", best)) == best);
    CHECK(best_value(recipe, by("loss", best)) == best);
    const RecipeProgram saying = recipe_of({{"surprise", MetricKind::sum, best}}, true);
    CHECK(refusal(saying, by("surprise")) == "(no error)");
    CHECK(best_value(saying, by("surprise")) == best);
  }
  CHECK(contains(refusal(recipe_with<objective::Distillation<void>>(true), by("teacher_loss")), "[HPARAM-24]"));
}
