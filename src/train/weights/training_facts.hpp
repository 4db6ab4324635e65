#pragma once
#include "train/weights/portable_model.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// What decides how a model is trained and nothing of the function that it computes: dropout, the precision, the
/// optimiser, the objective, adapters. Weights are loaded whatever it was, and where it differs a line says so.
namespace monomorph::train {

/// Those of the facts that a checkpoint keeps of its recipe.
ModelFacts training_facts(const ModelFacts& recipe_facts);
/// Those that a folder's config.json says of its model: dropout, and the dtype of its weights by the name that recipes
/// have for it.
ModelFacts training_facts(const PortableModel& portable, const nlohmann::json& config);

/// One line for each fact that both know and in which they differ, as differences() has it. Of what one side does not
/// say there is nothing to be told: an older checkpoint, or a folder, may know less.
std::vector<std::string> training_differences(const ModelFacts& there, const ModelFacts& here);

}  // namespace monomorph::train
