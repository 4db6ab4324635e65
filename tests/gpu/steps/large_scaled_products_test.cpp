// Products of fp8 of the sizes of real models, whose ways cuBLASLt chooses otherwise than those of tiny ones, with the
// scales and the spread of values that training has.
#include <array>
#include <cmath>
#include <initializer_list>

#include <monomorph/runtime/kernels/scaled_products.hpp>

#include "gpu/mirror.hpp"

namespace monomorph::testing {
namespace {

/// Numbers of all sizes and signs that a format of 8 bits has, times the scale: bf16 has them, too, so that rounding to
/// 8 bits changes nothing, whichever scale is used.
Mirror representable(std::int64_t rows, std::int64_t cols, unsigned seed, int significant_bits, double scale) {
  constexpr double least = 1.0 / 32, most = 16;  // within the normal numbers of e4m3
  Matrix matrix = random_matrix(rows, cols, seed);
  for (double& value : matrix.values) {
    int exponent = 0;
    const double digits = std::round(std::ldexp(std::frexp(value, &exponent), significant_bits));
    const double rounded = std::ldexp(digits, exponent - significant_bits);
    value = std::abs(rounded) < least ? 0 : std::fmin(most, std::fmax(-most, rounded)) / scale;
  }
  return {matrix, DType::bf16};
}

/// Three powers of two, so that one that is left out or taken for another shows.
constexpr std::array<double, scaled_tensors> scale_of{4, 512, 16'384};

Mirror scales() {
  Matrix numbers = filled(1, numbers_of_scales, 0);
  for (int i = 0; i < scaled_tensors; ++i) {
    const double scale = scale_of[static_cast<std::size_t>(i)];
    numbers.values[static_cast<std::size_t>(place_of_scale(i))] = scale;
    numbers.values[static_cast<std::size_t>(place_of_inverse(i))] = 1 / scale;
  }
  return {numbers, DType::fp32};
}

}  // namespace

// What differs is how sums are formed: by fewer bits than fp32 has in forward, and as each way of cuBLASLt's divides
// them.
TEST_CASE("products of fp8 of a real model's sizes are those of bf16, where rounding to 8 bits changes nothing") {
  using std::int64_t;
  constexpr int64_t m = 8192;
  constexpr int of_e4m3 = 4, of_e5m2 = 3;  // significant bits
  const cuda::Queue q;
  const Mirror numbers = scales();
  for (const auto& [n, k] : {std::array<int64_t, 2>{2048, 1536},  // of Qwen 2.5's shapes, 1.5B and 7B
                             {1536, 1536},
                             {17'920, 1536},
                             {1536, 8960},
                             {4608, 3584},
                             {3584, 3584},
                             {37'888, 3584},
                             {3584, 18'944}}) {
    CAPTURE(m, n, k);
    const Mirror x = representable(m, k, 1, of_e4m3, scale_of[0]), w = representable(n, k, 2, of_e4m3, scale_of[1]),
                 dy = representable(m, n, 3, of_e5m2, scale_of[2]);
    const auto results = [&](int64_t rows, int64_t cols, DType dtype) {
      return std::array<Mirror, 2>{Mirror(filled(rows, cols, 0), dtype), Mirror(filled(rows, cols, 0), dtype)};
    };
    const auto y = results(m, n, DType::bf16), dx = results(m, k, DType::bf16), dw = results(n, k, DType::fp32);
    const Mirror room(filled(1, ScaledProduct::elements(m, n, k), 0), DType::bf16);
    const ScaledProduct product{
        .scales = numbers.on(q).as<float>(), .maxima = nullptr, .room = room.on(q), .M = m, .N = n, .K = k};
    scaled_linear(q, x.on(q), w.on(q), View{}, y[0].on(q), product);
    linear(q, x.on(q), w.on(q), View{}, y[1].on(q));
    for (const bool accumulate : {false, true}) {
      scaled_linear_backward_weight(q, dy.on(q), x.on(q), dw[0].on(q), View{}, accumulate, product);
      scaled_linear_backward_input(q, w.on(q), dx[0].on(q), accumulate, product);
      linear_backward_weight(q, dy.on(q), x.on(q), dw[1].on(q), View{}, accumulate);
      linear_backward_input(q, dy.on(q), w.on(q), dx[1].on(q), accumulate);
    }
    synchronize(q);
    const auto check = [](const std::array<Mirror, 2>& of, double error, double slope) {
      CHECK(of[0].error_on_gpu(of[1]) < error);
      CHECK(std::abs(of[0].slope_on_gpu(of[1]) - 1) < slope);
    };
    check(y, 6e-3, 1e-3);
    check(dx, 6e-3, 1e-3);
    check(dw, 2e-3, 5e-4);
  }
}

}  // namespace monomorph::testing
