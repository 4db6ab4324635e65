#include "emulator/device/cuda_bf16.h"
#include "emulator/device/cuda_fp16.h"
#include "emulator/device/cuda_fp8.h"
#include "emulator/device/cuda_runtime.h"
#include "runtime/kernels/fp8.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// What the emulator has in the place of a GPU's instructions: against arithmetic of the CPU's kernels, which is
// another, and against the bounds of CUDA's programming guide.
namespace monomorph::emulator {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double of_fp32 = 0x1p-23, of_fp64 = 0x1p-52;  ///< a unit in the last place is at most this, relatively

/// Patterns of all exponents, around all places at which rounding to 16 or 8 bits changes, and others between.
template <class F> void for_each_float(F f) {
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 1 << 12)
    for (const std::uint64_t near : {0, 1, 4093}) f(std::bit_cast<float>(static_cast<std::uint32_t>(bits + near)));
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 9973)
    f(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

/// |x - exact| in units of the last place.
double units(double x, long double exact, double unit) {
  return static_cast<double>(std::fabs(static_cast<long double>(x) - exact) / std::fabs(exact)) / unit;
}

}  // namespace

TEST_CASE("the emulator's conversions round as the CPU's", "[emulator]") {
  std::size_t of_bf16 = 0, of_half = 0, of_e4m3 = 0, of_e5m2 = 0, from_half = 0;
  for_each_float([&](float x) {
    of_bf16 += __bfloat16_as_ushort(__float2bfloat16_rn(x)) != narrow_to_bf16(x).bits;
    of_half += __half_as_ushort(__float2half_rn(x)) != narrow_to_half(x).bits;
    if (!std::isfinite(x)) return;  // of which the CPU makes NaNs and this the greatest number, as a GPU does
    of_e4m3 += __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3) != narrow_to_e4m3(x).bits;
    of_e5m2 += __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2) != narrow_to_e5m2(x).bits;
  });
  for (std::uint32_t bits = 0; bits < 1 << 16; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    from_half += std::bit_cast<std::uint32_t>(__half2float(__ushort_as_half(half))) !=
                 std::bit_cast<std::uint32_t>(widen(Half{half}));
  }
  CHECK(of_bf16 == 0);
  CHECK(of_half == 0);
  CHECK(of_e4m3 == 0);
  CHECK(of_e5m2 == 0);
  CHECK(from_half == 0);
  CHECK(__nv_cvt_float_to_fp8(-infinity, __NV_SATFINITE, __NV_E4M3) == 0xFE);
  CHECK(__nv_cvt_float_to_fp8(infinity, __NV_SATFINITE, __NV_E5M2) == 0x7B);
  CHECK(__nv_cvt_float_to_fp8(std::nanf(""), __NV_SATFINITE, __NV_E5M2) == 0x7F);
}

TEST_CASE("the emulator's approximations have the errors that CUDA allows", "[emulator]") {
  double excess = 0, quotient = 0;
  for (int i = -87'000; i <= 88'000; ++i) {
    const float x = static_cast<float>(i) * 1e-3f;
    excess = std::max(excess, units(__expf(x), std::exp(static_cast<long double>(x)), of_fp32) - std::fabs(1.173 * x));
    const float y = std::exp2(static_cast<float>(i) * 1.4e-3f);
    quotient = std::max(quotient, units(__fdividef(3.1f, y), 3.1f / static_cast<long double>(y), of_fp32));
  }
  CHECK(excess <= 2);
  CHECK(quotient <= 2);
  CHECK(__expf(-infinity) == 0);
  CHECK(__expf(200) == infinity);
  CHECK(std::isnan(__expf(std::nanf(""))));
  CHECK(__fdividef(1, 0x1.8p126f) == 0);
  CHECK(__fdividef(1, infinity) == 0);
  CHECK(std::isnan(__fdividef(infinity, 0x1.8p126f)));
  CHECK(std::isnan(__fdividef(1, std::nanf(""))));
}

TEST_CASE("the emulator's sine and cosine of half turns are exact where those are, and near elsewhere", "[emulator]") {
  for (int quarter = -9; quarter <= 9; ++quarter) {
    constexpr double sines[] = {0, 1, 0, -1};
    CHECK(sinpi(quarter / 2.0) == sines[quarter & 3]);
    CHECK(cospi(quarter / 2.0) == sines[(quarter + 1) & 3]);
  }
  double error = 0;
  for (int i = 1; i < 100'000; ++i) {
    const double x = i * 1.9999e-5;
    // The angle from the next zero, which long double rounds as little as it does the result.
    const long double pi = 3.14159265358979323846264338327950288L, from_whole = x - std::nearbyint(x),
                      from_half = x - 0.5 - std::nearbyint(x - 0.5);
    const long double sine = std::sin(pi * from_whole), cosine = std::sin(pi * from_half);
    error = std::max(error, units(std::fabs(sinpi(x)), std::fabs(sine), of_fp64));
    error = std::max(error, units(std::fabs(cospi(x)), std::fabs(cosine), of_fp64));
  }
  CHECK(error <= 2);
}

}  // namespace monomorph::emulator
