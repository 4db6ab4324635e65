#include "train/run/weights/export_gguf.hpp"

#include "train/run/weights/gguf_architecture.hpp"
#include "train/run/weights/gguf_special_tokens.hpp"
#include "train/run/weights/gguf_tensors.hpp"
#include "train/run/weights/gguf_tokenizer.hpp"
#include "train/weights/merged_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace monomorph::train {

ExportedGguf export_gguf(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& file,
                         DType dtype, const data::Tokenizer* tokenizer, const std::string& run_folder) {
  const PortableModel portable = portable_model(recipe);
  const GgufArchitecture& architecture = gguf_architecture(recipe, portable);
  std::vector<std::string> notes;
  runtime::GgufMetadata metadata = gguf_metadata(architecture, portable, dtype, notes);
  if (tokenizer == nullptr) {
    metadata.add("tokenizer.ggml.model", std::string_view("none"));
  } else {
    const SpecialTokens special(run_folder, tokenizer);
    std::ranges::move(add_tokenizer(*tokenizer, special, portable.model.vocab_size, metadata),
                      std::back_inserter(notes));
    add_chat_templates(run_folder, metadata);
  }
  MergedWeights weights(checkpoint, recipe);
  WrittenNumbers written;
  runtime::write_gguf(file, metadata, gguf_tensors(recipe, architecture, weights, dtype, written));
  std::ranges::move(written.warnings(checkpoint), std::back_inserter(notes));
  return {fmt::format("{}: {} weights, as llama.cpp's {}", file, name_of(dtype), architecture.name), std::move(notes)};
}

}  // namespace monomorph::train
