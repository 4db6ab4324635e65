#pragma once
#include <string>

namespace monomorph::train {

/// Copies what belongs to a model beside its weights and its config.json, and means the same here and there: the files
/// of its tokeniser, its chat template and how it generates. Those that `from` does not have are left out.
/// @throws [FILE-01] and following
void copy_travelling_files(const std::string& from, const std::string& to);

}  // namespace monomorph::train
