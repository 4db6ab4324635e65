// config.json of Hugging Face's: a model that is accepted is written as a config.json that gives the same model, and as
// a recipe.
#include <monomorph/train/weights/recipe_header.hpp>

#include "harness.hpp"
#include "memory_folder.hpp"
#include "train/weights/model_folder.hpp"

using namespace monomorph;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  folder.put("config.json", fuzz::as_text(data, size));
  return fuzz::refusing([&] {
    const train::FolderModel model = train::read_folder_model(folder.path());
    const auto written = train::config_of(*model.family, model.portable);
    const train::PortableModel again = train::model_from(*model.family, written, "config.json");
    fuzz::require(facts_of(again) == facts_of(model.portable), "a model reads back as written");
    fuzz::require(!train::recipe_header(folder.path(), "a_model").empty(), "a model has a recipe");
  });
}
