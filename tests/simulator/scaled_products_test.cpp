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
      const auto product = [&, m = m, n = n, k = k](auto q) {
        return ScaledProduct{.scales = scales.on(q).template as<float>(),
                             .maxima = maxima.on(q)->data(),
                             .room = room.on(q),
                             .M = m,
                             .N = n,
                             .K = k};
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

TEST_CASE("products of fp8 of what activations round on a GPU are those of a CPU") {
  constexpr std::int64_t m = 80, features = 48, width = 32;
  constexpr DType bf16 = DType::bf16, fp32 = DType::fp32;
  for (const Activation activation : {Activation::swiglu, Activation::gelu_tanh})
    for (const bool trained : {true, false}) {
      CAPTURE(static_cast<int>(activation), trained);
      const std::int64_t hidden = is_gated(activation) ? 2 * features : features;
      const Mirror h = matrix(m, hidden, bf16, 1, 0), down = matrix(width, features, bf16, 2, 0),
                   up = matrix(hidden, width, bf16, 3, 0), x = matrix(m, width, bf16, 4, 0),
                   dy = matrix(m, features, bf16, 5, 0);
      const Mirror y(filled(m, width, 0), bf16), dx(filled(m, width, 0), bf16), ddown(filled(width, features, 0), fp32),
          dup(filled(hidden, width, 0), fp32), dout = matrix(m, width, bf16, 6, 0);
      const Mirror history({3, 2, {1, 2, 0.5, 0, 3, 4}}, bf16), scales(filled(1, numbers_of_scales, 0), fp32),
          of_down(filled(1, ScaledProduct::elements(m, width, features), 0), bf16),
          of_up(filled(1, ScaledProduct::elements(m, hidden, width), 0), bf16),
          bytes(filled(1, m * features / 2, 0), bf16);
      MirrorOf<std::array<std::int64_t, 3>> maxima({});
      on_both([&](auto q) {
        const auto product = [&](const Mirror& room, std::int64_t out, std::int64_t in) {
          return ScaledProduct{.scales = scales.on(q).template as<float>(),
                               .maxima = maxima.on(q)->data(),
                               .room = room.on(q),
                               .M = m,
                               .N = out,
                               .K = in};
        };
        const ScaledProduct to_out = product(of_down, width, features), to_hidden = product(of_up, hidden, width);
        const View kept_KM(bytes.on(q).data, DType::e4m3, {features, m});
        amax_scales(q, history.on(q), 0, scales.on(q));
        scaled_activate(q, activation, h.on(q), kept_KM, to_out);
        scaled_linear(q, kept_KM, down.on(q), View{}, y.on(q), to_out);
        scaled_linear_backward_weight(q, dout.on(q), kept_KM, ddown.on(q), View{}, false, to_out);
        scaled_activate_backward(q, activation, h.on(q), dy.on(q), View{}, trained, to_hidden);
        scaled_linear_backward_weight(q, View{}, x.on(q), trained ? dup.on(q) : View{}, View{}, false, to_hidden);
        scaled_linear_backward_input(q, up.on(q), dx.on(q), false, to_hidden);
      });
      for (const Mirror* result : {&y, &dx}) result->check_equal(tolerance(bf16));
      ddown.check_equal(tolerance(fp32));
      if (trained) dup.check_equal(tolerance(fp32));
      CHECK(maxima.gpu() == maxima.cpu());
    }
}

}  // namespace monomorph::testing
