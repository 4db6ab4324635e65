#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace monomorph::train {

/// Writes the adapters of a checkpoint in the format of Hugging Face's peft. The config comes last, so an export that
/// was interrupted has none.
/// @param folder created; no adapters may stand in it already   @param warn is given a line for what is NaN or infinite
/// @return a line for the user
/// @throws UsageError [ADAPTER-04] the recipe has no adapters, [WEIGHTS-01], [WEIGHTS-06]; as CheckpointWeights and
///   AtomicFile
std::string export_adapters(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& folder,
                            DType dtype, const std::function<void(std::string_view)>& warn = write_error_line);

}  // namespace monomorph::train
