#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

struct ExportedGguf {
  std::string line;                ///< for the user: what was written
  std::vector<std::string> notes;  ///< in what llama.cpp differs, and warnings of numbers that are not finite
};

/// Writes a checkpoint's parameters, the recipe's model, its tokenizer and its chat template as one GGUF file, as
/// llama.cpp reads it. Of the tensors no more than a bounded part is in memory at a time.
/// @param dtype of matrices: fp32, bf16 or fp16   @param tokenizer null if there is none
/// @param run_folder where files name special tokens and the chat template
/// @throws UsageError [WEIGHTS-01]; [GGUF-01] llama.cpp does not compute what the recipe does; [GGUF-02] it has no such
///   tokenizer; as SpecialTokens, data::chat_template_sources, runtime::CheckpointReader and AtomicFile
ExportedGguf export_gguf(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& file,
                         DType dtype, const data::Tokenizer* tokenizer, const std::string& run_folder);

}  // namespace monomorph::train
