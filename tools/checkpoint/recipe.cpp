#include "commands.hpp"

#include <monomorph/train/weights/recipe_header.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace monomorph::tools {
namespace {

struct Recipe {
  std::string folder;
  std::string name = "imported";
  bool within_documents = false;
};

}  // namespace

void add_recipe(CLI::App& program) {
  const auto recipe = std::make_shared<Recipe>();
  CLI::App* const command = program.add_subcommand("recipe", "Print a recipe header for the model of a folder");
  command->add_option("FOLDER", recipe->folder, "A folder of a Hugging Face model, with its config.json")->required();
  command->add_option("--name", recipe->name, "Of the recipe")->capture_default_str();
  command->add_flag("--within-documents", recipe->within_documents,
                    "Keep texts that share a row to themselves, as training on chats needs it");
  command->callback(
      [recipe] { write_out(train::recipe_header(recipe->folder, recipe->name, recipe->within_documents)); });
}

}  // namespace monomorph::tools
