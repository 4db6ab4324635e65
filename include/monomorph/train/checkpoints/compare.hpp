#pragma once
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::train {

/// How the elements of two tensors of one shape and dtype differ.
struct TensorDifference {
  std::string name;
  std::int64_t n_elements = 0;  ///< that differ in some bit
  /// Over all elements: |a - b|, and that over the larger of |a| and |b|. Infinite where one of the two alone is
  /// infinite, or both are with opposite signs. Both are 0 where zeros differ in nothing but their sign.
  double largest_absolute = 0, largest_relative = 0;
  std::int64_t place_of_largest = 0;  ///< the element of the largest absolute difference, in the order of the rows
  std::int64_t n_nan_in_one = 0;      ///< elements that are NaN in one alone: they count for no difference above
};

/// What two checkpoints do not have in common.
struct CheckpointComparison {
  std::vector<std::string> only_in_first, only_in_second;  ///< names
  std::vector<std::string> differently_shaped;             ///< names of tensors of another shape or dtype
  std::vector<TensorDifference> different;
  std::int64_t n_equal = 0;  ///< tensors whose bits are equal

  bool equal() const {
    return only_in_first.empty() && only_in_second.empty() && differently_shaped.empty() && different.empty();
  }
};

/// Compares the tensors, however each was split among the ranks that saved it, in memory that is bounded. Everything
/// else that checkpoints say is left aside.   @throws as CheckpointReader; [CHECKPOINT-35] after a signal
CheckpointComparison compare_checkpoints(runtime::CheckpointReader& first, runtime::CheckpointReader& second);

}  // namespace monomorph::train
