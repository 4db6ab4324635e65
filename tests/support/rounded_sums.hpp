#pragma once
#include <monomorph/core/dtype.hpp>

namespace monomorph::testing {

/// How far, relative to the terms, two sums of equal terms may lie apart that were added in other orders, and rounded
/// to this type.
inline double tolerance(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 1e-14;
    case DType::fp32:
      return 1e-6;
    case DType::bf16:
      return 4e-3;
    case DType::fp16:
      return 5e-4;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      break;  // no sums are rounded to them
  }
  return 0;
}

}  // namespace monomorph::testing
