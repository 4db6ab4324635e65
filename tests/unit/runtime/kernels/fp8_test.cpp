#include "runtime/kernels/fp8.hpp"

#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>
#include <vector>

#include "kernel_case.hpp"
#include "support/catch.hpp"
#include "support/rounded_to_fp8.hpp"

namespace monomorph::testing {
namespace {

constexpr std::uint32_t n_bf16 = 1 << 16;
float bf16(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }
bool same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

/// Every bf16 number, and what lies between neighbours: just beside the middle of two of 8 bits, and on it.
template <class F> void for_each_float(F f) {
  for (std::uint32_t bits = 0; bits < n_bf16; ++bits)
    for (const std::uint32_t low : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      f(std::bit_cast<float>(bits << 16 | low));
}

struct Tensors {
  Matrix x, w, dy;
};
/// Elements as a bf16 tensor has them, some of them far from the others.
Matrix tensor(std::int64_t rows, std::int64_t cols, unsigned seed) {
  Matrix matrix = random_matrix(rows, cols, seed);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = rounded(matrix.values[i] * (i % 37 == 5 ? 30 : 1), DType::bf16);
  return matrix;
}
template <class Round> Values rounded_with(const Values& values, float scale, Round round) {
  Values all;
  for (const double value : values)
    all.push_back(static_cast<double>(static_cast<float>(round(static_cast<float>(value) * scale))) / scale);
  return all;
}

}  // namespace

TEST_CASE("numbers are rounded to 8 bits as LibTorch rounds them, cut off at the greatest", "[fp8]") {
  std::int64_t wrong = 0, n = 0;
  for_each_float([&](float x) {
    ++n;
    const auto a = to_e4m3(x);
    const auto b = to_e5m2(x);
    const std::uint8_t e4m3 = narrow_to_e4m3(x).bits, e5m2 = narrow_to_e5m2(x).bits;
    // LibTorch's NaNs of e5m2 have the bits of e4m3's.
    wrong += e4m3 == a.x && e5m2 == b.x ? 0 : 1;
  });
  CHECK(wrong == 0);
  CHECK(n == 6 * n_bf16);
}

TEST_CASE("numbers of 8 bits are widened as LibTorch widens them, and are bf16 numbers", "[fp8]") {
  for (unsigned bits = 0; bits < 256; ++bits) {
    CAPTURE(bits);
    const auto byte = static_cast<std::uint8_t>(bits);
    const float e4m3 = widen(E4M3{byte}), e5m2 = widen(E5M2{byte});
    const auto of_torch = static_cast<float>(c10::Float8_e4m3fn(byte, c10::Float8_e4m3fn::from_bits()));
    const auto wide_of_torch = static_cast<float>(c10::Float8_e5m2(byte, c10::Float8_e5m2::from_bits()));
    CHECK((same(e4m3, of_torch) || (std::isnan(e4m3) && std::isnan(of_torch))));
    CHECK((same(e5m2, wide_of_torch) || (std::isnan(e5m2) && std::isnan(wide_of_torch))));
    if (std::isfinite(e4m3)) CHECK(same(widen(narrow_to_bf16(e4m3)), e4m3));
    if (std::isfinite(e5m2)) CHECK(same(widen(narrow_to_bf16(e5m2)), e5m2));
  }
}

TEST_CASE("a scale is the greatest power of two that keeps a magnitude within a format", "[fp8]") {
  const auto check = [](auto format, double greatest, std::uint32_t bits) {
    using F = decltype(format);
    const double amax = bf16(bits), scale = scale_of<F>(bf16(bits), 0);
    int exponent = 0;
    CHECK(std::frexp(scale, &exponent) == 0.5);
    if (exponent - 1 > -100 && exponent - 1 < 100) {
      CHECK(amax * scale <= greatest);
      CHECK(amax * scale * 2 > greatest);
    }
    CHECK(scale_of<F>(bf16(bits), 3) * 8 == (exponent - 1 - 3 >= -100 ? Approx(scale) : Approx(std::ldexp(8.0, -100))));
  };
  for (std::uint32_t bits = 0x0080; bits < 0x7F80; bits += 7) {
    CAPTURE(bits);
    if (scale_of<E4M3>(bf16(bits), 0) < std::ldexp(1.0F, 100)) check(E4M3{}, 448, bits);
    if (scale_of<E5M2>(bf16(bits), 0) < std::ldexp(1.0F, 100)) check(E5M2{}, 57'344, bits);
  }
  CHECK(scale_of<E4M3>(448, 0) == 1);
  CHECK(scale_of<E4M3>(450, 0) == 0.5F);
  CHECK(scale_of<E5M2>(57'344, 0) == 1);
  CHECK(scale_of<E4M3>(0, 0) == 1);
  CHECK(scale_of<E4M3>(0, 2) == 1);
}

TEST_CASE("scales follow from the greatest of what a history has of a tensor", "[fp8]") {
  Matrix history = filled(6, 5, 0);
  history.values[0 * 5 + 3] = 3;     // x of the first product: 3 · 128 = 384
  history.values[1 * 5 + 0] = 0.25;  // w
  history.values[2 * 5 + 4] = 2;     // dy
  history.values[2 * 5 + 1] = 7;
  history.values[4 * 5 + 2] = 1000;
  const Storage of_history(history, DType::bf16);
  for (const int margin : {0, 2}) {
    const Storage scales(filled(1, 2 * numbers_of_scales, -1), DType::fp32);
    cpu::amax_scales({}, of_history.view(), margin, scales.view());
    const double by = margin == 0 ? 1 : 0.25;
    const auto check = [&](int product, const Values& expected) {
      const Values all = scales.values(),
                   of(all.begin() + product * numbers_of_scales, all.begin() + (product + 1) * numbers_of_scales);
      for (int tensor = 0; tensor < scaled_tensors; ++tensor) {
        CHECK(of[place_of_scale(tensor)] == expected[tensor]);
        CHECK(of[place_of_inverse(tensor)] == 1 / expected[tensor]);
      }
      CHECK(std::ranges::count(of, -1) == numbers_of_scales - 2 * scaled_tensors);  // nothing else is written
    };
    check(0, {128 * by, 1024 * by, 8192 * by});
    check(1, {1, 0.25 * by, 1});
  }
}

TEST_CASE("an update's maxima take the place of the oldest, wherever the run of elements is cut", "[fp8]") {
  constexpr std::int64_t first = 128, updates = 5;
  const Shape history{3, updates};
  const std::vector<std::int64_t> maxima{0x3F80, 0x4000, 0x4110};  // 1, 2, 9
  UpdateDecision decision{.applies = true, .gradient_scale = 1, .update = 12};
  const auto recorded = [&](DType master, std::int64_t begin, std::int64_t n) {
    const Storage masters(filled(1, n, -1), master), copies(filled(1, n, -1), DType::bf16);
    const ElementUpdate run{.gradient = {},
                            .master = masters.view(),
                            .rounded = copies.view(),
                            .first = static_cast<std::uint64_t>(begin)};
    cpu::record_amax({}, run, first, history, maxima.data(), {.decision = &decision});
    CHECK(masters.values() == copies.values());
    return masters.values();
  };
  for (const DType master : {DType::fp32, DType::bf16}) {
    Values whole(256, -1);
    whole[128 + 1] = 1, whole[128 + 5 + 1] = 2, whole[128 + 10 + 1] = 9;  // update 12 is the second of its turn
    CHECK(recorded(master, 0, 256) == whole);
    CHECK(recorded(master, 64, 64) == Values(64, -1));
    CHECK(recorded(master, 192, 64) == Values(64, -1));
    Values from_its_begin(64, -1);
    from_its_begin[1] = 1, from_its_begin[6] = 2, from_its_begin[11] = 9;
    CHECK(recorded(master, 128, 64) == from_its_begin);
    decision.applies = false;
    CHECK(recorded(master, 0, 256) == Values(256, -1));
    decision.applies = true;
  }
}

TEST_CASE("products of fp8 are those of tensors that LibTorch rounds, and maxima are of tensors as they were",
          "[fp8]") {
  constexpr std::int64_t M = 48, N = 32, K = 16;
  const Tensors tensors{tensor(M, K, 1), tensor(N, K, 2), tensor(M, N, 3)};
  const Matrix bias = tensor(1, N, 4), residual = tensor(M, N, 5);
  // Scales that no history gives, so that some numbers are cut off, and some are subnormal.
  const std::vector<float> scales{8, 0.03125F, 1024, 0.125F, 32, 0.0009765625F};
  const Values x = rounded_with(tensors.x.values, scales[0], to_e4m3),
               w = rounded_with(tensors.w.values, scales[1], to_e4m3),
               dy = rounded_with(tensors.dy.values, scales[2], to_e5m2);
  REQUIRE(relative_error(x, tensors.x.values) > 0.01);
  REQUIRE(relative_error(w, tensors.w.values) > 0.01);

  const Storage of_x(tensors.x, DType::bf16, 16), of_w(tensors.w, DType::bf16), of_dy(tensors.dy, DType::bf16, 16),
      of_bias(bias, DType::bf16), of_residual(residual, DType::bf16),
      room(filled(1, ScaledProduct::elements(M, N, K), 0), DType::bf16);
  std::vector<std::int64_t> maxima(3, 0x3F80);
  const ScaledProduct product{
      .scales = scales.data(), .maxima = maxima.data(), .room = room.view(), .M = M, .N = N, .K = K};
  const Storage y(filled(M, N, 0), DType::bf16), z(filled(M, N, 0), DType::bf16), dx(filled(M, K, 1), DType::bf16),
      dw(filled(N, K, 1), DType::fp32), dbias(filled(1, N, 1), DType::fp32);
  Values y_expected(M * N), z_expected(M * N), dx_expected(M * K, 1), dw_expected(N * K, 1), dbias_expected(N, 1);
  for (std::int64_t m = 0; m < M; ++m)
    for (std::int64_t n = 0; n < N; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        sum += x[m * K + k] * w[n * K + k];
        dx_expected[m * K + k] += dy[m * N + n] * w[n * K + k];
        dw_expected[n * K + k] += dy[m * N + n] * x[m * K + k];
      }
      y_expected[m * N + n] = sum + bias.values[n];
      z_expected[m * N + n] = sum + bias.values[n] + residual.values[m * N + n];
      dbias_expected[n] += tensors.dy.values[m * N + n];
    }

  cpu::scaled_linear({}, of_x.view(), of_w.view(), of_bias.view(), y.view(), product);
  cpu::scaled_linear_add({}, of_x.view(), of_w.view(), of_bias.view(), of_residual.view(), z.view(), product);
  CHECK(relative_error(y.values(), y_expected) < 4e-3);
  CHECK(relative_error(z.values(), z_expected) < 4e-3);
  cpu::scaled_linear_backward_weight({}, of_dy.view(), of_x.view(), dw.view(), dbias.view(), true, product);
  cpu::scaled_linear_backward_input({}, of_w.view(), dx.view(), true, product);
  CHECK(relative_error(dw.values(), dw_expected) < 1e-6);
  CHECK(relative_error(dx.values(), dx_expected) < 4e-3);
  CHECK(relative_error(dbias.values(), dbias_expected) < 1e-6);

  const auto greatest = [](const Matrix& of) {
    double most = 1;  // what was there before
    for (const double value : of.values) most = std::max(most, std::abs(value));
    return most;
  };
  CHECK(of_magnitude(maxima[0]) == greatest(tensors.x));
  CHECK(of_magnitude(maxima[1]) == greatest(tensors.w));
  CHECK(of_magnitude(maxima[2]) == greatest(tensors.dy));
}

TEST_CASE("an activation that is rounded where it is made gives the products of one that is stored as bf16", "[fp8]") {
  constexpr std::int64_t M = 48, N = 32, K = 16;
  using enum Activation;
  for (const Activation activation : {gelu_exact, gelu_tanh, relu_squared, swiglu, geglu_exact, geglu_tanh}) {
    CAPTURE(static_cast<int>(activation));
    const std::vector<float> scales{8, 0.03125F, 1024, 0.125F, 32, 0.0009765625F};
    const Storage h(tensor(M, is_gated(activation) ? 2 * K : K, 1), DType::bf16, 16), w(tensor(N, K, 2), DType::bf16),
        dy(tensor(M, N, 3), DType::bf16), activated(filled(M, K, 0), DType::bf16);
    with_activation(activation, [&]<Activation kind> { activate<kind>(cpu::Queue{}, h.view(), activated.view()); });
    std::vector<std::uint8_t> kept(static_cast<std::size_t>(K * M));
    const View kept_KM(reinterpret_cast<std::byte*>(kept.data()), DType::e4m3, {K, M});
    struct Result {
      Values y, dw;
      std::vector<std::int64_t> maxima;
      bool operator==(const Result&) const = default;
    };
    const auto result = [&](View x) {
      std::vector<std::int64_t> maxima(3, 0);
      const Storage room(filled(1, ScaledProduct::elements(M, N, K), 0), DType::bf16), y(filled(M, N, 0), DType::bf16),
          dw(filled(N, K, 1), DType::fp32);
      const ScaledProduct product{
          .scales = scales.data(), .maxima = maxima.data(), .room = room.view(), .M = M, .N = N, .K = K};
      if (is_rounded(x)) cpu::scaled_activate({}, activation, h.view(), x, product);
      cpu::scaled_linear({}, x, w.view(), View{}, y.view(), product);
      cpu::scaled_linear_backward_weight({}, dy.view(), x, dw.view(), View{}, true, product);
      return Result{y.values(), dw.values(), maxima};
    };
    CHECK(result(kept_KM) == result(activated.view()));
    std::int64_t differ = 0;
    for (std::int64_t k = 0; k < K; ++k)
      for (std::int64_t m = 0; m < M; ++m)
        differ += kept[k * M + m] == to_e4m3(static_cast<float>(activated.values()[m * K + k]) * scales[0]).x ? 0 : 1;
    CHECK(differ == 0);
  }
}

TEST_CASE("the gradient of an activation that is rounded where it is made gives the products of one that is stored",
          "[fp8]") {
  constexpr std::int64_t M = 32, F = 16, K = 48;
  using enum Activation;
  for (const Activation activation : {gelu_exact, gelu_tanh, relu_squared, swiglu, geglu_exact, geglu_tanh}) {
    CAPTURE(static_cast<int>(activation));
    const bool gated = is_gated(activation);
    const std::int64_t N = gated ? 2 * F : F;
    const std::vector<float> scales{8, 0.03125F, 1024, 0.125F, 32, 0.0009765625F};
    const Storage x(tensor(M, K, 1), DType::bf16), w(tensor(N, K, 2), DType::bf16);
    struct Result {
      Values dw, dx, dbias;
      std::vector<std::int64_t> maxima;
      bool operator==(const Result&) const = default;
    };
    enum class Dh { stored_first, rounded, rounded_and_stored };
    const auto result = [&](Dh how) {
      std::vector<std::int64_t> maxima(3, 0);
      const Storage h(tensor(M, N, 3), DType::bf16, 16), dy(tensor(M, F, 4), DType::bf16, 16),
          room(filled(1, ScaledProduct::elements(M, N, K), 0), DType::bf16), dw(filled(N, K, 1), DType::fp32),
          dx(filled(M, K, 1), DType::bf16), dbias(filled(1, N, 1), DType::fp32);
      const ScaledProduct product{
          .scales = scales.data(), .maxima = maxima.data(), .room = room.view(), .M = M, .N = N, .K = K};
      const View dh = gated ? h.view() : dy.view(), stored = how == Dh::rounded ? View{} : dh;
      if (how == Dh::stored_first) {
        with_activation(activation,
                        [&]<Activation kind> { activate_backward<kind>(cpu::Queue{}, h.view(), dy.view(), dh); });
        cpu::scaled_linear_backward_weight({}, dh, x.view(), dw.view(), dbias.view(), true, product);
      } else {
        cpu::scaled_activate_backward({}, activation, h.view(), dy.view(), stored, true, product);
        cpu::scaled_linear_backward_weight({}, View{}, x.view(), dw.view(), View{}, true, product);
        if (stored.present()) cpu::linear_backward_weight({}, stored, View{}, View{}, dbias.view(), true);
      }
      cpu::scaled_linear_backward_input({}, w.view(), dx.view(), false, product);
      return Result{dw.values(), dx.values(), how == Dh::rounded ? Values{} : dbias.values(), maxima};
    };
    Result expected = result(Dh::stored_first);
    CHECK(result(Dh::rounded_and_stored) == expected);
    expected.dbias = {};
    CHECK(result(Dh::rounded) == expected);
  }
}

TEST_CASE("a norm that is rounded where it is made gives the products of one that is stored as bf16", "[fp8]") {
  constexpr std::int64_t M = 48, N = 32, K = 16;
  constexpr double epsilon = 1e-5;
  const std::vector<float> scales{8, 0.03125F, 1024, 0.125F, 32, 0.0009765625F};
  const Storage x(tensor(M, K, 1), DType::bf16, 16), w(tensor(N, K, 2), DType::bf16),
      weight(tensor(1, K, 3), DType::bf16), bias(tensor(1, K, 4), DType::bf16), dy(tensor(M, N, 5), DType::bf16),
      normed(filled(M, K, 0), DType::bf16), mean(filled(1, M, 0), DType::fp32), rstd(filled(1, M, 0), DType::fp32);
  std::vector<std::uint8_t> kept(static_cast<std::size_t>(K * M));
  const View kept_KM(reinterpret_cast<std::byte*>(kept.data()), DType::e4m3, {K, M});
  for (const NormKind kind : {NormKind::layer_norm, NormKind::rms_norm, NormKind::zero_centered_rms_norm}) {
    CAPTURE(static_cast<int>(kind));
    if (kind == NormKind::layer_norm)
      cpu::layer_norm({}, x.view(), weight.view(), bias.view(), epsilon, normed.view(), mean.view(), rstd.view());
    else
      cpu::rms_norm({}, x.view(), weight.view(), bias.view(), epsilon, normed.view(), rstd.view(), weight_offset(kind));
    struct Result {
      Values y, dw;
      std::vector<std::int64_t> maxima;
      bool operator==(const Result&) const = default;
    };
    enum class From { stored, group, saved };
    const auto result = [&](From from) {
      std::vector<std::int64_t> maxima(3, 0);
      const Storage room(filled(1, ScaledProduct::elements(M, N, K), 0), DType::bf16), y(filled(M, N, 0), DType::bf16),
          dw(filled(N, K, 1), DType::fp32), own_mean(filled(1, M, 0), DType::fp32),
          own_rstd(filled(1, M, 0), DType::fp32);
      const ScaledProduct product{
          .scales = scales.data(), .maxima = maxima.data(), .room = room.view(), .M = M, .N = N, .K = K};
      const bool from_saved = from == From::saved;
      const View in = from == From::stored ? normed.view() : kept_KM;
      if (from != From::stored)
        cpu::scaled_normalize({},
                              {.kind = kind,
                               .x_MK = x.view(),
                               .weight_K = weight.view(),
                               .bias_K = bias.view(),
                               .epsilon = epsilon,
                               .mean_M = (from_saved ? mean : own_mean).view(),
                               .rstd_M = (from_saved ? rstd : own_rstd).view(),
                               .from_saved = from_saved},
                              in, product);
      cpu::scaled_linear({}, in, w.view(), View{}, y.view(), product);
      cpu::scaled_linear_backward_weight({}, dy.view(), in, dw.view(), View{}, true, product);
      if (from == From::group) CHECK(own_rstd.values() == rstd.values());
      return Result{y.values(), dw.values(), maxima};
    };
    const Result expected = result(From::stored);
    CHECK(result(From::group) == expected);
    CHECK(result(From::saved) == expected);
  }
}

TEST_CASE("what a product keeps of its input and its weights gives the products that rounding again gives", "[fp8]") {
  constexpr std::int64_t M = 48, N = 32, K = 16;
  const std::vector<float> scales{8, 0.03125F, 1024, 0.125F, 32, 0.0009765625F};
  const Storage h(tensor(M, K, 1), DType::bf16), w(tensor(N, K, 2), DType::bf16), dy(tensor(M, N, 3), DType::bf16);
  std::vector<std::uint8_t> bytes_of_x(static_cast<std::size_t>(K * M)), bytes_of_w(static_cast<std::size_t>(K * N));
  const View kept_KM(reinterpret_cast<std::byte*>(bytes_of_x.data()), DType::e4m3, {K, M}),
      kept_KN(reinterpret_cast<std::byte*>(bytes_of_w.data()), DType::e4m3, {K, N});
  const Storage room(filled(1, ScaledProduct::elements(M, N, K), 0), DType::bf16);
  ScaledProduct product{.scales = scales.data(), .maxima = nullptr, .room = room.view(), .M = M, .N = N, .K = K};
  const auto forward = [&] {
    const Storage y(filled(M, N, 0), DType::bf16);
    cpu::scaled_linear({}, kept_KM, w.view(), View{}, y.view(), product);
    return y.values();
  };
  const auto backward = [&] {
    const Storage dx(filled(M, K, 1), DType::bf16);
    cpu::scaled_linear_backward_weight({}, dy.view(), View{}, View{}, View{}, false, product);
    cpu::scaled_linear_backward_input({}, w.view(), dx.view(), true, product);
    return dx.values();
  };
  cpu::scaled_activate({}, Activation::gelu_tanh, h.view(), kept_KM, product);
  const Values y = forward(), dx = backward();
  zero(cpu::Queue{}, room.view());
  cpu::scaled_input_again({}, kept_KM, product);
  product.kept_w_KN = kept_KN;
  CHECK(forward() == y);
  zero(cpu::Queue{}, room.view());
  CHECK(backward() == dx);
}

TEST_CASE("gradients of heads that are rounded where they are rotated back give the products of those that are stored",
          "[fp8]") {
  constexpr std::int64_t M = 32, T = 16, half = 8, rotated = 2 * 2 * half, N = rotated + 16, K = 16;
  const std::vector<float> scales{8, 0.03125F, 1024, 0.125F, 32, 0.0009765625F};
  const Storage x(tensor(M, K, 1), DType::bf16), w(tensor(N, K, 2), DType::bf16),
      cos(random_matrix(T, half, 3), DType::fp32), sin(random_matrix(T, half, 4), DType::fp32);
  const std::vector<std::int32_t> documents = growing_documents(M, T);
  const auto result = [&](bool together) {
    std::vector<std::int64_t> maxima(3, 0);
    const Storage dy(tensor(M, N, 5), DType::bf16, 16),
        room(filled(1, ScaledProduct::elements(M, N, K), 0), DType::bf16), dw(filled(N, K, 1), DType::fp32),
        dx(filled(M, K, 1), DType::bf16);
    const ScaledProduct product{
        .scales = scales.data(), .maxima = maxima.data(), .room = room.view(), .M = M, .N = N, .K = K};
    if (together)
      cpu::scaled_rotary_backward({}, dy.view(), rotated, cos.view(), sin.view(), T, documents.data(), true, product);
    else
      cpu::rotary({}, dy.view().columns(0, rotated), cos.view(), sin.view(), T, 0, true, documents.data());
    cpu::scaled_linear_backward_weight({}, together ? View{} : dy.view(), x.view(), dw.view(), View{}, true, product);
    cpu::scaled_linear_backward_input({}, w.view(), dx.view(), false, product);
    return std::tuple(dw.values(), dx.values(), maxima);
  };
  CHECK(result(true) == result(false));
}

TEST_CASE("an infinity in a tensor of a product of fp8 is a NaN behind it", "[fp8]") {
  Matrix x = tensor(16, 16, 1);
  x.values[5] = std::numeric_limits<double>::infinity();
  const Storage of_x(x, DType::bf16), of_w(tensor(16, 16, 2), DType::bf16), y(filled(16, 16, 0), DType::bf16),
      room(filled(1, ScaledProduct::elements(16, 16, 16), 0), DType::bf16);
  const std::vector<float> scales(numbers_of_scales, 1);
  cpu::scaled_linear({}, of_x.view(), of_w.view(), View{}, y.view(),
                     {.scales = scales.data(), .maxima = nullptr, .room = room.view(), .M = 16, .N = 16, .K = 16});
  const Values values = y.values();
  CHECK(std::isnan(values[0]));
  CHECK(std::isfinite(values[16]));
}

}  // namespace monomorph::testing
