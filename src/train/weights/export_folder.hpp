#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace monomorph::train {

struct Family;  // train/weights/family.hpp

struct ExportOptions {
  DType dtype = DType::fp32;
  std::int64_t bytes_per_file = 5'000'000'000;  ///< a tensor that is larger has a file of its own
  const Family* family = nullptr;               ///< the first that expresses the recipe, if null
  /// What config.json says of special_token_keys. Of families whose positions begin behind the token that fills texts
  /// up, there are as many as this one's says, or as usual if it is none.
  nlohmann::json special_tokens = nlohmann::json::object();
  std::function<void(std::string_view)> warn = write_error_line;  ///< is given a line for what is NaN or infinite
  /// Writes what else belongs to the folder into the one that it is given.
  std::function<void(const std::string&)> write_companions = [](const std::string&) {};
};

/// Writes a checkpoint's parameters, adapters merged into them, and the recipe's model as a folder of Hugging Face's:
/// config.json comes last, so an export that was interrupted has none. Of the tensors no more than a bounded part is in
/// memory at a time.
/// @param checkpoint of this recipe   @param folder created; what stands in it may not be a model already
/// @return a line for the user: the family and what was written
/// @throws UsageError [WEIGHTS-01] no family expresses the recipe; [WEIGHTS-06] the folder has files of a model; as
///   runtime::CheckpointReader and AtomicFile
std::string export_folder(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& folder,
                          const ExportOptions& options);

}  // namespace monomorph::train
