#pragma once
#include "train/weights/weights_source.hpp"

#include <monomorph/train/step/quantized_matrix.hpp>

namespace monomorph::train {

/// A matrix of a source in NF4: with the bytes that it has there, or else its numbers, rounded to `dtype` and
/// quantised.
/// @throws UsageError [WEIGHTS-13] some, or scales of them, are NaN or infinite
Nf4Buffer quantized(WeightsSource& source, const std::string& name, DType dtype);

/// Numbers that are made of a source's matrices in NF4, of one at a time: as a recipe computes with them.
class DequantizedWeights {
 public:
  explicit DequantizedWeights(DType compute) : compute_(compute) {}

  View of(WeightsSource& source, const std::string& name);
  /// Some of them, converted to the dtype of `to`.   @param first element, in the order of the matrix's rows
  void read(WeightsSource& source, const std::string& name, std::int64_t first, View to);

 private:
  DType compute_;
  std::string name_;  ///< whose they are
  std::vector<std::byte> bytes_;
};

}  // namespace monomorph::train
