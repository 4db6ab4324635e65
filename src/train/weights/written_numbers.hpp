#pragma once
#include "train/weights/non_finite.hpp"

#include <functional>
#include <string>
#include <vector>

namespace monomorph::train {

/// What an export writes that is NaN or infinite: because the weights are, or because their numbers are beyond those of
/// the dtype that is written.
class WrittenNumbers {
 public:
  /// @param written contiguous, in the host's memory
  /// @param read fills a contiguous view of fp64 with the same numbers as the checkpoint has them; called only where
  ///   what is written is not all finite
  void count(const std::string& name, View written, const std::function<void(View)>& read);
  /// A line for each of the two; none if all is finite.   @param where the weights are from
  std::vector<std::string> warnings(const std::string& where) const;

 private:
  NonFiniteNumbers of_weights_, beyond_dtype_;
};

}  // namespace monomorph::train
