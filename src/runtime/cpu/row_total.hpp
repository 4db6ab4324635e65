#pragma once
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cpu {

/// The sum of a row of fp32 or fp64, in fp64 and in the order of its elements.
inline double row_total(const View& row) {
  double sum = 0;
  for (std::int64_t i = 0; i < row.elements(); ++i)
    sum += row.dtype == DType::fp64 ? row.as<double>()[i] : static_cast<double>(row.as<float>()[i]);
  return sum;
}

}  // namespace monomorph::cpu
