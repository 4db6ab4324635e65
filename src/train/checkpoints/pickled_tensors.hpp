#pragma once
#include <monomorph/runtime/files/safetensors.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monomorph::train {

struct PickledTensor {
  std::string name;
  runtime::FileDType dtype{};
  std::vector<std::int64_t> shape;
};

/// The pickle of PyTorch's zip files: a dictionary from names to tensors, of which the i-th has its elements in the
/// record data/<i>. Protocol 2, and of it only what torch.load(weights_only=True) executes.
std::string pickled(std::span<const PickledTensor> tensors);

}  // namespace monomorph::train
