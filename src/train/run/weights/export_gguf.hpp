#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <string>

namespace monomorph::train {

/// Writes a checkpoint's parameters, the recipe's model and its tokenizer as one GGUF file, as llama.cpp reads models
/// of the Llama family. Of the tensors no more than a bounded part is in memory at a time.
/// @param dtype of matrices: fp32, bf16 or fp16; vectors and routers are fp32   @param tokenizer null if there is none
/// @return a line for the user   @throws UsageError [WEIGHTS-01]; [GGUF-01] llama.cpp does not compute what the recipe
///   does; [GGUF-02] as add_tokenizer; as runtime::CheckpointReader and AtomicFile
std::string export_gguf(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& file,
                        DType dtype, const data::Tokenizer* tokenizer);

}  // namespace monomorph::train
