#pragma once
#include "support/tensors.hpp"

#include <monomorph/runtime/files/safetensors.hpp>

#include <string>
#include <vector>

/// Reads what Hugging Face's transformers wrote, in the names and orientation of our canonical tensors.
namespace monomorph::testing {

Values values_of(const runtime::SafetensorsFile& file, const std::string& name);
std::vector<std::int32_t> ids_of(const runtime::SafetensorsFile& file, const std::string& name);

/// For each of `like` the tensor that GPT-2, Llama or Mixtral have for it, their names being preceded by `prefix`
/// ("grad."). Of a table that is longer than ours the first rows. A name that the file lacks throws.
Tensors hugging_face_tensors(const runtime::SafetensorsFile& file, const std::string& prefix,
                             const std::vector<train::StateTensor>& like);

}  // namespace monomorph::testing
