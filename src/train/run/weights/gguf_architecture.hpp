#pragma once
#include "train/weights/portable_model.hpp"

#include <monomorph/runtime/files/gguf.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What llama.cpp computes for a family of Hugging Face's.
struct GgufArchitecture {
  std::string_view model_type, name;
  bool interleaves = false;  ///< pairs of features that turn together lie side by side: rows of queries and keys move
  bool joins_qkv = false;    ///< queries, keys and values are one tensor
  bool has_local_layers = false;  ///< some layers see a window; attention's scores have a multiplier of its own
};

/// @throws UsageError [GGUF-01] llama.cpp does not compute what the recipe does
const GgufArchitecture& gguf_architecture(const RecipeProgram& recipe, const PortableModel& portable);

/// Whether rotary frequencies are scaled as Llama 3 does it, of which llama.cpp wants the factors as a tensor.
bool has_rotary_factors(const DecoderSpec& model);

/// By what queries are multiplied before llama.cpp does it, so that scores have the model's own multiplier.
double gguf_query_scale(const GgufArchitecture& architecture, const DecoderSpec& model);

/// The sizes and options of a model, of matrices of this dtype.
/// @param notes gets a line for what holds for short texts alone
runtime::GgufMetadata gguf_metadata(const GgufArchitecture& architecture, const PortableModel& portable, DType dtype,
                                    std::vector<std::string>& notes);

/// @throws UsageError [GGUF-01]
[[noreturn]] void refuse_gguf_model(const RecipeProgram& recipe, std::string_view feature);

}  // namespace monomorph::train
