#pragma once
#include "train/weights/model_folder.hpp"
#include "train/weights/weights_source.hpp"

#include <string>

namespace monomorph::train {

/// A tensor of a folder that is meant to be a weight a second time.
struct SecondCopy {
  FolderTensors::Tensor tensor;
  std::string original;  ///< the weight's canonical name
};

/// Whether it has the shape and the numbers of its original, which are compared in bounded pieces. It may have another
/// dtype.
bool is_copy(const SecondCopy& copy, WeightsSource& weights);

}  // namespace monomorph::train
