// Products of fp8 of the sizes of real models, whose ways cuBLASLt chooses otherwise than those of tiny ones.
#include <array>
#include <cmath>
#include <initializer_list>

#include <monomorph/runtime/kernels/scaled_products.hpp>

#include "gpu/mirror.hpp"

namespace monomorph::testing {
namespace {

/// Whole numbers from -4 to 4, which e4m3, e5m2 and bf16 have all.
Mirror whole_numbers(std::int64_t rows, std::int64_t cols, unsigned seed) {
  Matrix matrix = random_matrix(rows, cols, seed);
  for (double& value : matrix.values) value = std::fmin(4, std::fmax(-4, std::round(2 * value)));
  return {matrix, DType::bf16};
}

}  // namespace

TEST_CASE("products of fp8 of a real model's sizes are those of bf16, where rounding to 8 bits changes nothing") {
  using std::int64_t;
  const cuda::Queue q;
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{8192, 1536, 1536},
                                {2048, 17'920, 1536},
                                {2048, 1536, 8960},
                                {1024, 37'888, 3584},
                                {1024, 3584, 18'944}}) {
    CAPTURE(m, n, k);
    const Mirror x = whole_numbers(m, k, 1), w = whole_numbers(n, k, 2), dy = whole_numbers(m, n, 3);
    const auto results = [&](int64_t rows, int64_t cols, DType dtype) {
      return std::array<Mirror, 2>{Mirror(filled(rows, cols, 1), dtype), Mirror(filled(rows, cols, 1), dtype)};
    };
    const auto y = results(m, n, DType::bf16), dx = results(m, k, DType::bf16), dw = results(n, k, DType::fp32);
    const Mirror scales(filled(1, numbers_of_scales, 1), DType::fp32),
        room(filled(1, ScaledProduct::elements(m, n, k), 0), DType::bf16);
    const ScaledProduct product{
        .scales = scales.on(q).as<float>(), .maxima = nullptr, .room = room.on(q), .M = m, .N = n, .K = k};
    scaled_linear(q, x.on(q), w.on(q), View{}, y[0].on(q), product);
    linear(q, x.on(q), w.on(q), View{}, y[1].on(q));
    for (const bool accumulate : {false, true}) {
      scaled_linear_backward_weight(q, dy.on(q), x.on(q), dw[0].on(q), View{}, accumulate, product);
      scaled_linear_backward_input(q, w.on(q), dx[0].on(q), accumulate, product);
      linear_backward_weight(q, dy.on(q), x.on(q), dw[1].on(q), View{}, accumulate);
      linear_backward_input(q, dy.on(q), w.on(q), dx[1].on(q), accumulate);
    }
    synchronize(q);
    CHECK(y[0].error_on_gpu(y[1]) < 4e-3);  // forward sums are formed in fewer bits than fp32 has
    CHECK(dx[0].error_on_gpu(dx[1]) < 4e-3);
    CHECK(dw[0].error_on_gpu(dw[1]) < 1e-6);  // whole numbers, whose sums fp32 has
  }
}

}  // namespace monomorph::testing
