#pragma once
#include "train/weights/checkpoint_weights.hpp"

#include <string>
#include <vector>

namespace monomorph::train {

/// The weights of a checkpoint's model as they are without adapters beside them: those that have one are
/// W + scale · B A, computed in fp64 and rounded once. Of a recipe without adapters, the checkpoint's weights.
class MergedWeights : public CheckpointWeights {
 public:
  MergedWeights(const std::string& path, const RecipeProgram& recipe);

  void read(const std::string& name, std::int64_t first, View to) override;
  void read_columns(const std::string& name, std::int64_t first, View to) override;

 private:
  /// In fp64, of one weight at a time: few numbers beside the weight's own.
  struct Adapter {
    std::string weight;
    std::int64_t rank = 0, in = 0;
    std::vector<double> a_rxI, scaled_b_Oxr;
    /// values += (B A)[row, first col + i] for each of n values.
    void add_to(std::int64_t row, std::int64_t first_col, std::int64_t n, double* values) const;
  };
  /// Null if the weight has none.
  const Adapter* adapter_of(const std::string& weight);

  const LowRankSpec* low_rank_;
  Adapter adapter_;
  std::vector<std::byte> sums_;
};

}  // namespace monomorph::train
