#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/runtime/files/safetensors.hpp>

#include <optional>

namespace monomorph::train {

constexpr runtime::FileDType file_dtype(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return runtime::FileDType::f64;
    case DType::fp32:
      return runtime::FileDType::f32;
    case DType::bf16:
      return runtime::FileDType::bf16;
    case DType::fp16:
      return runtime::FileDType::f16;
    case DType::u8:
      return runtime::FileDType::u8;
    case DType::e4m3:
    case DType::e5m2:
      break;  // no state has them
  }
  __builtin_unreachable();
}

/// Absent for integers.
constexpr std::optional<DType> dtype_of(runtime::FileDType dtype) {
  for (const DType known : {DType::fp64, DType::fp32, DType::bf16, DType::fp16})
    if (file_dtype(known) == dtype) return known;
  return std::nullopt;
}

}  // namespace monomorph::train
