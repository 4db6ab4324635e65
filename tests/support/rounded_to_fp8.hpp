#pragma once
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

/// Numbers as LibTorch rounds them to 8 bits, if those beyond the greatest are cut off there before, and infinities are
/// NaNs: what products of fp8 have for their tensors.
namespace monomorph::testing {

inline float cut_off(float x, float greatest) {
  return std::isinf(x) ? std::copysign(std::nanf(""), x) : std::clamp(x, -greatest, greatest);
}
inline c10::Float8_e4m3fn to_e4m3(float x) { return static_cast<c10::Float8_e4m3fn>(cut_off(x, 448)); }
inline c10::Float8_e5m2 to_e5m2(float x) { return static_cast<c10::Float8_e5m2>(cut_off(x, 57'344)); }

}  // namespace monomorph::testing
