#pragma once
#include <cstdint>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/region_run.hpp>
#include <monomorph/spec/tensor_info.hpp>
#include <string>

namespace monomorph::train {

/// What a rank holds of a canonical tensor of the optimiser's state: a run of the elements of a region of it.
struct StateTensor {
  std::string name;                               ///< "layers.3.mlp.up.weight", or with "moment1." before it
  View view;                                      ///< of the region's shape if it is all of it, otherwise of one row
  Shape shape = view.shape;                       ///< of the whole tensor
  Region region = Region::whole(dims_of(shape));  ///< of a tensor of dims_of(shape)
  std::int64_t first = 0;                         ///< element of the region with which the view begins
  RegionRun held() const { return {region, first, view.elements()}; }
};

/// What a rank holds of a matrix that a step keeps in NF4: parts of its bytes, which checkpoints hold under its name
/// with what each is behind it. A view is not present where the rank holds nothing.
struct QuantizedMatrix {
  std::string name;
  TensorInfo info;
  DType dtype;  ///< of the numbers that are quantised, and of those that are made of it
  std::uint32_t unit = 0;
  StateTensor codes, absmax, nested_absmax, offset;
};

}  // namespace monomorph::train
