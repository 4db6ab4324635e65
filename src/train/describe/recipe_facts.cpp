#include "train/describe/recipe_facts.hpp"

#include "train/describe/amax_history.hpp"
#include "train/step/tensor_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monomorph::train {
namespace {

constexpr std::size_t most_named = 6;

/// Of recipes with products in fp8 the updates whose maxima are state. Others say that they have none, so that the two
/// are told apart.
Fact amax_history_fact(const RecipeProgram& recipe) {
  const std::optional<std::int64_t> updates = amax_history_of(recipe);
  return {"amax_history", updates ? fmt::format("{} updates", *updates) : "none"};
}

Fact beside_adapters(const RecipeProgram& recipe) {
  const std::string name = trained_beside_adapters(recipe);
  return {std::string(beside_adapters_fact), name.empty() ? std::string(nothing_beside_adapters) : name};
}

std::vector<Fact> all_facts(const RecipeProgram& recipe) {
  std::vector<Fact> facts = recipe.policies;
  for (const auto& more : {recipe.described_model.facts, recipe.expectations})
    facts.insert(facts.end(), more.begin(), more.end());
  facts.push_back(amax_history_fact(recipe));
  if (recipe.low_rank != nullptr) facts.push_back(beside_adapters(recipe));
  return facts;
}

bool is_identifier(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') || character == '_' ||
         (character >= '0' && character <= '9');
}

/// "Bf16Mixed" for "monomorph::precision::Bf16Mixed": the library's own namespaces only repeat the name of the axis.
std::string shortened(std::string text) {
  const std::string root = "monomorph::";
  for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root, at)) {
    std::size_t end = at + root.size(), inner = end;
    while (inner < text.size() && is_identifier(text[inner])) ++inner;
    if (text.compare(inner, 2, "::") == 0) end = inner + 2;
    text.erase(at, end - at);
  }
  return text;
}

}  // namespace

std::string trained_beside_adapters(const RecipeProgram& recipe) {
  for (int unit = 0; unit < recipe.n_units; ++unit)
    for (const TensorInfo& tensor : recipe.unit_layout(unit))
      if (tensor.is_parameter && !is_of_adapter(tensor.name) && recipe.trains_tensor(unit, tensor))
        return tensor_name(tensor.name, recipe.block_of_unit(unit));
  return "";
}

std::map<std::string, std::string> recipe_facts(const RecipeProgram& recipe) {
  std::map<std::string, std::string> facts;
  for (const Fact& fact : all_facts(recipe)) facts[fact.name] = fact.value;
  return facts;
}

std::string differing_facts(const std::map<std::string, std::string>& there, const RecipeProgram& here,
                            bool of_the_state) {
  std::vector<std::string> differences;
  for (const Fact& fact : all_facts(here)) {
    const auto found = there.find(fact.name);
    if (fact.shapes_state != of_the_state || found == there.end() || found->second == fact.value) continue;
    differences.push_back(
        fmt::format("{}: {} there, {} here", fact.name, shortened(found->second), shortened(fact.value)));
  }
  const std::size_t n = differences.size();
  if (n <= most_named) return fmt::format("{}", fmt::join(differences, "; "));
  differences.resize(most_named);
  return fmt::format("{}; and {} more", fmt::join(differences, "; "), n - most_named);
}

}  // namespace monomorph::train
