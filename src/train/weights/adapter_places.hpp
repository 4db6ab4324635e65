#pragma once
#include "train/weights/adapter_config.hpp"
#include "train/weights/tensor_places.hpp"

#include <string>
#include <vector>

namespace monomorph::train {

/// A matrix of a recipe's adapter, and where it begins in one of peft's.
struct AdapterBlock {
  CanonicalTensor tensor;
  std::int64_t first_row = 0, first_col = 0;
};

/// A matrix, A or B, of an adapter of peft's: what lies in it of the recipe's, beside which it is zero.
struct PlacedAdapter {
  std::string name;    ///< "base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight"
  std::string module;  ///< "layers.3.self_attn.q_proj", by whose end peft finds it
  Shape shape;
  bool transposed = false;  ///< the family's files have the transpose of what is adapted
  std::vector<AdapterBlock> blocks;

  /// Whether it is one of the recipe's, as it is.
  bool is_whole() const { return blocks.size() == 1 && blocks.front().tensor.shape == shape; }
};

/// What becomes one adapter of peft's where a family's files have several adapted weights in one tensor. The B's lie in
/// B at the rows of their weights.
enum class JoinedAdapters {
  shared,  ///< all have the same A, which is A
  stacked  ///< the A's lie one below the other, and the B's at their columns: the rank is that of all together
};

/// All matrices of a recipe's adapters.
std::vector<PlacedAdapter> placed_adapters(const Family& family, const RecipeProgram& recipe, JoinedAdapters joined);

/// What peft must be told to adapt, and the ranks: of each module as much of the end of its name as nothing else has
/// that is not adapted.
AdapterRanks ranks_by_target(const Family& family, const std::vector<PlacedAdapter>& adapters);

/// Whether recipes may have adapters beside a weight of a family.   @param name as placed_tensors has it
bool is_adaptable(const Family& family, const std::string& name);

}  // namespace monomorph::train
