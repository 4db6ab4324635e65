#pragma once
#include <string>

namespace monomorph::train {

/// A recipe whose model is that of a folder of Hugging Face's, as the text of a header. Policies, of which the folder
/// says nothing, are the simplest: one who trains chooses others.
/// @param name of the recipe: an identifier
/// @param within_documents a decoder's texts that share a row are kept to themselves, in every layer
/// @throws UsageError [WEIGHTS-02] to [WEIGHTS-04]; [WEIGHTS-12] the name is no identifier
std::string recipe_header(const std::string& folder, const std::string& name, bool within_documents = false);

}  // namespace monomorph::train
