#pragma once
#include "train/weights/tensor_places.hpp"

#include <string>
#include <vector>

namespace monomorph::train {

/// A matrix of an adapter, and the name that peft gives it.
struct PlacedAdapter {
  CanonicalTensor tensor;
  std::string module;  ///< "self_attn.q_proj", what of the weight's name tells targets apart
  std::string name;    ///< "base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight"
};

/// All matrices of a recipe's adapters, in the recipe's order.
/// @throws UsageError [ADAPTER-03] the family's files have several weights in one tensor, to which peft gives one
///   adapter
std::vector<PlacedAdapter> placed_adapters(const Family& family, const RecipeProgram& recipe);

/// What peft must be told to adapt: the last part of each module's name, or more of it where that is the name of
/// something else, too.
std::vector<std::string> target_modules(const Family& family, const std::vector<PlacedAdapter>& adapters);

/// Whether the family's files have the transpose of what is adapted.
bool are_transposed(const Family& family, const std::vector<PlacedAdapter>& adapters);

}  // namespace monomorph::train
