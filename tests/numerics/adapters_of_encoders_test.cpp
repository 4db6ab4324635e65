// Adapters that Hugging Face's peft wrote for encoders: tests/fixtures/adapters/README.md.
#include "fixtures/weights/recipes/bert.hpp"
#include "fixtures/weights/recipes/roberta.hpp"
#include "numerics/adapters_check.hpp"
#include "support/training_program.hpp"

namespace monomorph {
namespace {

using namespace testing;

using bert_adapted =
    Adapted<recipes::bert,
            LowRankSpec{.rank = 3, .alpha = 4, .targets = {.key = true, .output = true, .up = true, .down = true}}>;
using roberta_adapted =
    Adapted<recipes::roberta, LowRankSpec{.rank = 2, .alpha = 3, .targets = {.value = false, .down = true}}>;

}  // namespace

TEST_CASE("adapters of a BERT travel, merged and alone") { check_travels_adapted<bert_adapted, recipes::bert>("bert"); }
TEST_CASE("adapters of a RoBERTa, of which one module's name ends as another's, travel, merged and alone") {
  check_travels_adapted<roberta_adapted, recipes::roberta>("roberta");
}

TEST_CASE("adapters of a model that has an encoder below a head are those of the encoder") {
  AdapterFile file("roberta");
  std::map<std::string, AdapterFile::Matrix> renamed;
  for (auto& [name, matrix] : file.matrices) {
    const std::string before = "base_model.model.";
    REQUIRE(name.starts_with(before));
    renamed[before + "roberta." + name.substr(before.size())] = matrix;
  }
  file.matrices = renamed;
  const TemporaryFolder folder;
  file.write_to(folder / "adapters");
  const train::RecipeProgram recipe = training_program<roberta_adapted>();
  const auto imported = train::import_weights(recipe, fixture("roberta"), folder / "imported", folder / "adapters");
  train::export_adapters(recipe, imported.checkpoint, folder / "exported", DType::fp32);
  CHECK(tensors_of(folder / "exported") == tensors_of(adapters("roberta")));
}

}  // namespace monomorph
