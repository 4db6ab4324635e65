#pragma once
#include <monomorph/train/describe/recipe_program.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

struct ImportedWeights {
  std::string checkpoint;
  std::vector<std::string> notes;  ///< warnings, and in what the models differ
};

/// Makes a run folder of a folder of Hugging Face's: a checkpoint of step 0 that holds weights alone, in the recipe's
/// master precision, and the tokeniser's and other files beside them. No more of the weights than a bounded part is in
/// memory at a time.
/// @throws UsageError [WEIGHTS-06] something is at `output` already; as open_weights, check_tensors
ImportedWeights import_weights(const RecipeProgram& recipe, const std::string& folder, const std::string& output);

}  // namespace monomorph::train
