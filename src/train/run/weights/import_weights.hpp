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
/// @param adapters a folder of peft's, if the recipe has adapters
/// @throws UsageError [WEIGHTS-06] something is at `output` already; [ADAPTER-05] the recipe has adapters and there is
///   no folder of them; as open_weights, AdapterFolder, check_tensors, WeightsSource::check_copies
ImportedWeights import_weights(const RecipeProgram& recipe, const std::string& folder, const std::string& output,
                               const std::string& adapters = "");

}  // namespace monomorph::train
