#include <monomorph/train/hparams.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <filesystem>

using namespace monomorph::train;
using namespace monomorph::testing;

TEST_CASE("each recipe has an example of its hyperparameters that reads and validates") {
  int n_recipes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(MONOMORPH_SOURCE_DIR) + "/recipes")) {
    if (entry.path().extension() != ".hpp") continue;
    ++n_recipes;
    const std::string example = std::filesystem::path(entry.path()).replace_extension(".json").string();
    CAPTURE(example);
    CHECK(error_of([&] { validate(read_hparams(example, {}), 1); }) == "(no error)");
  }
  CHECK(n_recipes > 0);
}
