#pragma once
#include "train/weights/model_folder.hpp"

#include <monomorph/runtime/kernels/nf4.hpp>

#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// A matrix of a folder in NF4 with double quantisation, as bitsandbytes saves it: codes by the weight's name, and
/// beside them tensors whose names begin with it.
struct BitsAndBytesMatrix {
  Shape shape;
  FolderTensors::Tensor codes, absmax, nested_absmax;
  float offset = 0;

  void read(const Nf4Matrix& to) const;
};

/// Nothing if nothing of NF4 lies beside the tensor of that name.
/// @throws UsageError [WEIGHTS-07] it is not in blocks of 64 with scales in blocks of 256, or is not all there
std::optional<BitsAndBytesMatrix> bits_and_bytes_matrix(const FolderTensors& folder, const std::string& name);

/// The names of what lies beside a weight.
std::vector<std::string> names_beside(const std::string& name);

}  // namespace monomorph::train
