#pragma once
#include <concepts>
#include <monomorph/core/dtype.hpp>
#include "runtime/kernels/elements.hpp"

/// From a dtype to the C++ type of its elements, for kernels.
namespace monomorph {
namespace {

/// Calls f.operator()<S>() with the type of a dtype's elements.
template <class F> inline void in_element_type(DType dtype, F f) {
  switch (dtype) {
    case DType::fp32:
      f.template operator()<float>();
      break;
    case DType::bf16:
      f.template operator()<BFloat16>();
      break;
    case DType::fp64:
      f.template operator()<double>();
      break;
    case DType::fp16:
      f.template operator()<Half>();
      break;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      __builtin_trap();  // they mean nothing without a scale, which no kernel of elements is given
  }
}

/// Calls f.operator()<S>() with the type in which a kernel over these dtypes computes: double for fp64, else float.
template <class F> inline void in_compute_type(DType dtype, F f) {
  if (dtype == DType::fp64) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

/// A number as an element of the dtype has it; one of 16 bits is rounded to fp32 before.
inline double as_element(DType dtype, double number) {
  double rounded = number;
  in_element_type(dtype, [&]<class S>() {
    S element;
    narrow(static_cast<Compute<S>>(number), element);
    rounded = widen(element);
  });
  return rounded;
}

/// The dtype of elements of 16 bits or more.
template <class S>
inline constexpr DType dtype_of = std::same_as<S, double>     ? DType::fp64
                                  : std::same_as<S, BFloat16> ? DType::bf16
                                  : std::same_as<S, Half>     ? DType::fp16
                                                              : DType::fp32;

}  // namespace
}  // namespace monomorph
