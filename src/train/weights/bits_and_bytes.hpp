#pragma once
#include "train/weights/model_folder.hpp"

#include <monomorph/spec/layout.hpp>

#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// A matrix of a folder in NF4, as bitsandbytes saves it: codes by the weight's name, and beside them tensors whose
/// names begin with it. With double quantisation the scales have a byte each, and else they are in fp32.
struct BitsAndBytesMatrix {
  Shape shape;
  FolderTensors::Tensor codes, absmax;
  std::optional<FolderTensors::Tensor> nested_absmax;  ///< of double quantisation
  float offset = 0;
};

/// Nothing if nothing of NF4 lies beside the tensor of that name.
/// @throws UsageError [WEIGHTS-07] it is not in blocks of 64, with scales in fp32 or in blocks of 256, or is not all
///   there
std::optional<BitsAndBytesMatrix> bits_and_bytes_matrix(const FolderTensors& folder, const std::string& name);

/// The names of what lies beside a weight.
std::vector<std::string> names_beside(const std::string& name);

}  // namespace monomorph::train
