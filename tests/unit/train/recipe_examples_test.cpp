#include <monomorph/train/hparams/hparams.hpp>
#include <recipes/quickstart.hpp>
#include <recipes/tiny_distillation.hpp>
#include <recipes/tiny_preferences.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <filesystem>

using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

/// What a hyperparameter file of a recipe may say. Recipes have AdamW and the next token, but for those that are named
/// here.
Hparams defaults_of(const std::filesystem::path& recipe) {
  using monomorph::PolicyHparams;
  Hparams hparams;
  if (recipe.stem() == "quickstart")
    hparams.optimizer.policy = PolicyHparams::of<recipes::quickstart::optimizer::Hparams>();
  if (recipe.stem() == "tiny_distillation")
    hparams.loss.policy = PolicyHparams::of<recipes::tiny_distillation::objective::Hparams>();
  if (recipe.stem().string().starts_with("tiny_preferences"))
    hparams.loss.policy = PolicyHparams::of<recipes::tiny_preferences::objective::Hparams>();
  return hparams;
}

}  // namespace

TEST_CASE("each recipe has an example of its hyperparameters that reads and validates, on two ranks, too") {
  int n_recipes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(MONOMORPH_SOURCE_DIR) + "/recipes")) {
    if (entry.path().extension() != ".hpp") continue;
    ++n_recipes;
    const std::string example = std::filesystem::path(entry.path()).replace_extension(".json").string();
    CAPTURE(example);
    const Hparams defaults = defaults_of(entry.path());
    for (const int ranks : {1, 2})
      CHECK(error_of([&] { validate(read_hparams(example, {}, defaults), ranks); }) == "(no error)");
  }
  CHECK(n_recipes > 0);
}
