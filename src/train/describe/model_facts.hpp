#pragma once
#include <monomorph/spec/decoder_spec.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <vector>

namespace monomorph::train {

/// Every field of a model by its name, "model.norm.epsilon", with derived sizes worked out.
std::vector<Fact> model_facts(const RecipeProgram& recipe);
std::vector<Fact> model_facts(const DecoderSpec& model);

}  // namespace monomorph::train
