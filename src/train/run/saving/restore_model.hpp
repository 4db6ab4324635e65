#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/step/inference_model.hpp>

#include <string>

namespace monomorph::train {

/// Loads a checkpoint's parameters into a model of a recipe with the same state fingerprint, rounded to the dtype that
/// it computes in as a step rounds them.
/// @throws [RUN-04] if the checkpoint's recipe has another one; as runtime::CheckpointReader
void restore_model(const std::string& checkpoint, const RecipeProgram& recipe, InferenceModel& model);

}  // namespace monomorph::train
