#pragma once
#include <string>

namespace monomorph::train {

/// A recipe whose model is that of a folder of Hugging Face's, as the text of a header. Policies, of which the folder
/// says nothing, are the simplest: one who trains chooses others.
/// @param name of the recipe: an identifier
/// @throws UsageError [WEIGHTS-02] to [WEIGHTS-04]; [WEIGHTS-12] the name is no identifier
std::string recipe_header(const std::string& folder, const std::string& name);

}  // namespace monomorph::train
