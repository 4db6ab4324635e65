// Products of fp8 of the CUDA backend beside a CPU's: on the simulated GPU, and in gpu_steps on a real one.
#include <array>

#include <monomorph/runtime/kernels/scaled_products.hpp>

#include "gpu/mirror.hpp"
#include "support/rounded_sums.hpp"

namespace monomorph::testing {
namespace {

Mirror matrix(std::int64_t rows, std::int64_t cols, DType dtype, unsigned seed, std::int64_t gap) {
  return {random_matrix(rows, cols, seed), dtype, gap};
}

}  // namespace

TEST_CASE("products of fp8 on a GPU are those of a CPU, biases and sums with them") {
  using std::int64_t;
  for (const int64_t gap : {0, 16})
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{16, 32, 48}, {80, 16, 112}}) {
      CAPTURE(gap, m, n, k);
      constexpr DType bf16 = DType::bf16, fp32 = DType::fp32;
      const Mirror x = matrix(m, k, bf16, 1, gap), w = matrix(n, k, bf16, 2, 0), bias = matrix(1, n, bf16, 3, 0),
                   residual = matrix(m, n, bf16, 4, gap), dy = matrix(m, n, bf16, 5, gap);
      const Mirror y = matrix(m, n, bf16, 6, gap), z = matrix(m, n, bf16, 7, gap), dx = matrix(m, k, bf16, 8, gap),
                   dw = matrix(n, k, fp32, 9, 0), dbias = matrix(1, n, fp32, 10, 0);
      const Mirror history({3, 2, {1, 2, 0.5, 0, 3, 4}}, bf16), scales(filled(1, numbers_of_scales, 0), fp32),
          room(filled(1, ScaledProduct::elements(m, n, k), 0), bf16);
      MirrorOf<std::array<int64_t, 3>> maxima({});
      const auto product = [&](auto q) {
        return ScaledProduct{.scales = scales.on(q).template as<float>(),
                             .maxima = maxima.on(q)->data(),
                             .room = room.on(q)};
      };
      on_both([&](auto q) {
        amax_scales(q, history.on(q), 0, scales.on(q));
        scaled_linear(q, x.on(q), w.on(q), bias.on(q), y.on(q), product(q));
        scaled_linear_add(q, x.on(q), w.on(q), View{}, residual.on(q), z.on(q), product(q));
      });
      scales.check_equal();
      for (const Mirror* result : {&y, &z}) result->check_equal(tolerance(bf16));
      for (const bool accumulate : {false, true}) {
        on_both([&](auto q) {
          scaled_linear_backward_weight(q, dy.on(q), x.on(q), dw.on(q), dbias.on(q), accumulate, product(q));
          scaled_linear_backward_input(q, w.on(q), dx.on(q), accumulate, product(q));
        });
        dx.check_equal(tolerance(bf16));
        for (const Mirror* result : {&dw, &dbias}) result->check_equal(tolerance(fp32));
      }
      CHECK(maxima.gpu() == maxima.cpu());
      CHECK(maxima.cpu()[2] > 0);
      // Of frozen weights there is no gradient, and that of the input is the same.
      const Mirror dbias_alone = matrix(1, n, fp32, 10, 0);
      on_both([&](auto q) {
        zero(q, room.on(q));
        scaled_linear_backward_weight(q, dy.on(q), x.on(q), View{}, dbias_alone.on(q), true, product(q));
        scaled_linear_backward_input(q, w.on(q), dx.on(q), false, product(q));
      });
      dx.check_equal(tolerance(bf16));
      dbias_alone.check_equal(tolerance(fp32));
    }
}

}  // namespace monomorph::testing
