#pragma once
#include <monomorph/train/describe/recipe_program.hpp>

#include <algorithm>
#include <optional>

namespace monomorph::train {

/// How many updates the scales of a recipe's products in fp8 follow from; of another recipe none.
inline std::optional<std::int64_t> amax_history_of(const RecipeProgram& recipe) {
  for (int unit = 0; unit < recipe.n_units; ++unit) {
    const ParameterLayout layout = recipe.unit_layout(unit);
    const auto* const record = std::ranges::find(layout, false, &TensorInfo::is_parameter);
    if (record != layout.end()) return record->slice.shape.cols;
  }
  return std::nullopt;
}

}  // namespace monomorph::train
