#include "train/describe/recompute_choices.hpp"

#include <monomorph/plan/memory_changes.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

using RecomputeFunction = Recompute (*)(int block);
template <unsigned... numbers>
constexpr std::array<RecomputeFunction, sizeof...(numbers)> functions_of(std::integer_sequence<unsigned, numbers...>) {
  return {plan::recompute_always<recompute_of(numbers)>...};
}

}  // namespace

std::string choices_text(Recompute again) {
  std::vector<std::string> fields;
  for (const auto& [name, chosen] : recompute_choices)
    if (again.*chosen) fields.push_back(fmt::format(".{} = true", name));
  return fmt::format("Recompute{{{}}}", fmt::join(fields, ", "));
}

plan::TotalWork total_work(const plan::PlannedRecipe& recipe, Recompute again) {
  return plan::total_work(recipe.n_layers, recipe.recomputed_work, again);
}

plan::SelectiveChoices selective_choices(const plan::PlannedRecipe& recipe) {
  return plan::selective_choices([&](Recompute again) { return total_work(recipe, again); });
}

Recompute (*recompute_always(Recompute again))(int block) {
  static constexpr auto functions = functions_of(std::make_integer_sequence<unsigned, all_choices + 1>{});
  return functions[number_of(again)];
}

}  // namespace monomorph::train
