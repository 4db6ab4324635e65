// Tensors that are rounded to fp8 by the kernel that makes them, beside those that are stored as bf16 first and rounded
// by a kernel of its own: the same bits and the same maxima.
#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <monomorph/spec/rotary_spec.hpp>

#include <numeric>

#include "runtime/cuda/fp8/round_activation.hpp"
#include "runtime/cuda/fp8/round_rotated.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/layers/round_norm.hpp"

namespace monomorph::emulator {
namespace {

using enum Activation;
constexpr Activation all_activations[] = {gelu_exact, gelu_tanh, relu_squared, swiglu, geglu_exact, geglu_tanh};

struct Size {
  std::int64_t rows, cols;
};
/// Of a part of a tile, of a whole one, and of several, in rows, in columns and in many rows.
constexpr Size sizes[] = {{16, 16}, {64, 64}, {48, 80}, {80, 144}, {16, 272}, {2112, 16}};

/// Numbers of many magnitudes, some of which no fp8 holds.
Storage numbers(std::int64_t rows, std::int64_t cols, unsigned seed, std::int64_t gap) {
  Matrix matrix = random_matrix(rows, cols, seed);
  constexpr double special[] = {0.0, -0.0, 1e-4, -1e-8, 30, -30, 1e3, -1e3, 3e38};
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    if (i % 11 == seed) matrix.values[i] = special[i / 11 % std::size(special)];
  return {matrix, DType::bf16, gap};
}

/// Both copies of what is rounded, and its maximum.
struct Rounded {
  Shape shape;
  DType dtype;
  std::vector<std::uint8_t> as_it_is = bytes(), transposed = bytes();
  std::int64_t maximum = 5;

  std::vector<std::uint8_t> bytes() const {
    constexpr std::uint8_t untouched = 0xAA;
    return std::vector<std::uint8_t>(static_cast<std::size_t>(shape.elements()), untouched);
  }
  cuda::RoundedTo to(bool transposes) {
    const auto view = [&](std::vector<std::uint8_t>& of, Shape as) {
      return View(reinterpret_cast<std::byte*>(of.data()), dtype, as);
    };
    return {view(as_it_is, shape), transposes ? view(transposed, {shape.cols, shape.rows}) : View{}};
  }
  friend bool operator==(const Rounded& a, const Rounded& b) {
    return a.as_it_is == b.as_it_is && a.transposed == b.transposed && a.maximum == b.maximum;
  }
};

void for_each_case(auto&& f) {
  for (const Activation activation : all_activations)
    for (const auto& [rows, cols] : sizes)
      for (const std::int64_t gap : {0, 16})
        for (const float scale : {1.0F, 64.0F}) {
          CAPTURE(static_cast<int>(activation), rows, cols, gap, scale);
          f(activation, Size{rows, cols}, gap, &scale);
        }
}

}  // namespace

TEST_CASE("activations are rounded to fp8 where they are made as they are behind bf16", "[fp8]") {
  for_each_case([](Activation activation, Size size, std::int64_t gap, const float* scale) {
    const auto [rows, cols] = size;
    const Storage h = numbers(rows, is_gated(activation) ? 2 * cols : cols, 1, gap),
                  activated(filled(rows, cols, 0), DType::bf16, gap);
    Rounded expected{{rows, cols}, DType::e4m3};
    with_activation(activation, [&]<Activation kind> { activate<kind>(gpu_queue, writable(h), writable(activated)); });
    cuda::round_to_fp8(gpu_queue, writable(activated), scale, expected.to(true), &expected.maximum);
    REQUIRE(expected.maximum > 5);
    for_each_schedule([&] {
      Rounded actual{{rows, cols}, DType::e4m3};
      cuda::round_activation(gpu_queue, activation, writable(h), scale, actual.to(true), &actual.maximum);
      CHECK((actual == expected));
    });
  });
}

TEST_CASE(
    "gradients of activations are rounded to fp8 where they are made as they are behind bf16, and stored if asked",
    "[fp8]") {
  for_each_case([](Activation activation, Size size, std::int64_t gap, const float* scale) {
    const auto [rows, cols] = size;
    const bool gated = is_gated(activation);
    const Storage h = numbers(rows, gated ? 2 * cols : cols, 1, gap), dy = numbers(rows, cols, 2, gap);
    const Shape shape = h.view().shape;
    const Storage dh(filled(shape.rows, shape.cols, 0), DType::bf16, gap);
    Rounded expected{shape, DType::e5m2};
    with_activation(activation, [&]<Activation kind> {
      activate_backward<kind>(gpu_queue, writable(h), writable(dy), writable(dh));
    });
    cuda::round_to_fp8(gpu_queue, writable(dh), scale, expected.to(true), &expected.maximum);
    REQUIRE(expected.maximum > 5);
    for_each_schedule([&] {
      for (const bool stores : {false, true})
        for (const bool transposes : {false, true}) {
          CAPTURE(stores, transposes);
          const Storage of_h(h), of_dy(dy), &place = gated ? of_h : of_dy;
          Rounded actual{shape, DType::e5m2};
          cuda::round_activation_gradient(gpu_queue, activation, writable(of_h), writable(of_dy),
                                          stores ? writable(place) : View{}, scale, actual.to(transposes),
                                          &actual.maximum);
          CHECK((actual.as_it_is == expected.as_it_is));
          CHECK((actual.transposed == (transposes ? expected.transposed : expected.bytes())));
          CHECK(actual.maximum == expected.maximum);
          CHECK((place.bytes() == (stores ? dh : gated ? h : dy).bytes()));
        }
    });
  });
}

TEST_CASE("outputs of norms are rounded to fp8 where they are made as they are behind bf16", "[fp8]") {
  using enum NormKind;
  constexpr double epsilon = 1e-5;
  // Teams of few lanes, of a warp, of a block that has packs to spare, and groups that no block holds.
  for (const auto& [rows, cols] : {Size{5, 16}, {33, 48}, {9, 272}, {70, 512}, {3, 1040}, {2, 5008}, {2, 17'008}})
    for (const NormKind kind : {layer_norm, rms_norm, zero_centered_rms_norm})
      for (const bool has_bias : {false, true}) {
        CAPTURE(rows, cols, static_cast<int>(kind), has_bias);
        const float scale = 16;
        const Storage x(random_matrix(rows, cols, 1), DType::bf16, has_bias ? 16 : 0),
            weight(random_matrix(1, cols, 2), DType::bf16),
            bias(has_bias ? random_matrix(1, cols, 3) : Matrix{}, DType::bf16), y(filled(rows, cols, 0), DType::bf16),
            mean(filled(1, rows, 0), DType::fp32), rstd(filled(1, rows, 0), DType::fp32);
        if (kind == layer_norm)
          cuda::layer_norm(gpu_queue, writable(x), writable(weight), writable(bias), epsilon, writable(y),
                           writable(mean), writable(rstd));
        else
          cuda::rms_norm(gpu_queue, writable(x), writable(weight), writable(bias), epsilon, writable(y), writable(rstd),
                         weight_offset(kind));
        Rounded expected{{rows, cols}, DType::e4m3};
        cuda::round_to_fp8(gpu_queue, writable(y), &scale, expected.to(false), &expected.maximum);
        REQUIRE(expected.maximum > 5);
        for_each_schedule([&] {
          Storage of_mean(filled(1, rows, 7), DType::fp32), of_rstd(filled(1, rows, 7), DType::fp32);
          NormedInput norm{.kind = kind,
                           .x_MK = writable(x),
                           .weight_K = writable(weight),
                           .bias_K = writable(bias),
                           .epsilon = epsilon,
                           .mean_M = writable(of_mean),
                           .rstd_M = writable(of_rstd)};
          for (const bool from_saved : {false, true}) {
            CAPTURE(from_saved);
            norm.from_saved = from_saved;
            Rounded actual{{rows, cols}, DType::e4m3};
            cuda::round_norm(gpu_queue, norm, &scale, actual.to(false).as_it_is_RC, &actual.maximum);
            CHECK((actual == expected));
            CHECK((of_rstd.bytes() == rstd.bytes()));
            if (kind == layer_norm) CHECK((of_mean.bytes() == mean.bytes()));
          }
          Rounded without_maximum{{rows, cols}, DType::e4m3};
          cuda::round_norm(gpu_queue, norm, &scale, without_maximum.to(false).as_it_is_RC, nullptr);
          CHECK((without_maximum.as_it_is == expected.as_it_is));
          CHECK(without_maximum.maximum == 5);
        });
      }
}

TEST_CASE("gradients of heads are rounded to fp8 where they are rotated back as they are behind bf16", "[fp8]") {
  constexpr std::int64_t tokens = 24, heads = 3;
  const std::vector<std::int32_t> documents = growing_documents(4 * tokens, tokens);
  for (const std::int64_t half : {8, 16, 24, 64, 4, 12})  // the last two no multiples of an access
    for (const bool in_documents : {false, true}) {
      const std::int64_t rows = 4 * tokens, rotated = heads * 2 * half, cols = rotated + (half % 8 == 0 ? 32 : 24);
      CAPTURE(half, in_documents);
      const auto* const starts = in_documents ? documents.data() : nullptr;
      const std::int64_t width = (cols + 15) / 16 * 16;
      const Storage dy = numbers(rows, width, 1, 16), cos(random_matrix(tokens, half, 2), DType::fp32),
                    sin(random_matrix(tokens, half, 3), DType::fp32), stored(dy);
      const float scale = 64;
      cuda::rotary(gpu_queue, writable(stored).columns(0, rotated), writable(cos), writable(sin), tokens, 0, true,
                   starts);
      Rounded expected{{rows, width}, DType::e5m2};
      cuda::round_to_fp8(gpu_queue, writable(stored), &scale, expected.to(true), &expected.maximum);
      for_each_schedule([&] {
        for (const bool transposes : {false, true}) {
          const Storage of_dy(dy);
          Rounded actual{{rows, width}, DType::e5m2};
          cuda::round_rotated_back(gpu_queue, {writable(of_dy), rotated, writable(cos), writable(sin), tokens, starts},
                                   &scale, actual.to(transposes), &actual.maximum);
          CHECK((actual.as_it_is == expected.as_it_is));
          CHECK((actual.transposed == (transposes ? expected.transposed : expected.bytes())));
          CHECK(actual.maximum == expected.maximum);
        }
      });
    }
}

TEST_CASE("tensors of more tiles than there are blocks are rounded where they are made as smaller ones are", "[fp8]") {
  constexpr std::int64_t tile = 64, blocks = std::int64_t{8} * cuda::multiprocessors_to_fill,
                         rows = tile * (blocks + 2), cols = 16, half = 8;  // two blocks take a second tile
  const float scale = 16;
  const Storage h = numbers(rows, cols, 1, 0), activated(filled(rows, cols, 0), DType::bf16);
  Rounded expected{{rows, cols}, DType::e4m3};
  cuda::gelu_tanh(gpu_queue, writable(h), writable(activated));
  cuda::round_to_fp8(gpu_queue, writable(activated), &scale, expected.to(true), &expected.maximum);
  const Storage cos(random_matrix(rows, half, 2), DType::fp32), sin(random_matrix(rows, half, 3), DType::fp32),
      stored(h);
  Rounded expected_rotated{{rows, cols}, DType::e5m2};
  cuda::rotary(gpu_queue, writable(stored), writable(cos), writable(sin), rows, 0, true);
  cuda::round_to_fp8(gpu_queue, writable(stored), &scale, expected_rotated.to(true), &expected_rotated.maximum);
  for_each_schedule([&] {
    Rounded actual{{rows, cols}, DType::e4m3}, rotated{{rows, cols}, DType::e5m2};
    cuda::round_activation(gpu_queue, gelu_tanh, writable(h), &scale, actual.to(true), &actual.maximum);
    CHECK((actual == expected));
    cuda::round_rotated_back(gpu_queue, {writable(h), cols, writable(cos), writable(sin), rows, nullptr}, &scale,
                             rotated.to(true), &rotated.maximum);
    CHECK((rotated == expected_rotated));
  });
}

TEST_CASE("matrices of fp8 are transposed byte by byte", "[fp8]") {
  for (const auto& [rows, cols] : sizes) {
    CAPTURE(rows, cols);
    Rounded of{{rows, cols}, DType::e4m3};
    for (std::size_t i = 0; i < of.as_it_is.size(); ++i) of.as_it_is[i] = static_cast<std::uint8_t>(7 * i + i / 251);
    std::vector<std::uint8_t> expected(of.as_it_is.size());
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t col = 0; col < cols; ++col) expected[col * rows + row] = of.as_it_is[row * cols + col];
    for_each_schedule([&] {
      std::ranges::fill(of.transposed, std::uint8_t{0});
      const cuda::RoundedTo views = of.to(true);
      cuda::transpose_fp8(gpu_queue, views.as_it_is_RC, views.transposed_CR);
      CHECK((of.transposed == expected));
    });
  }
}

}  // namespace monomorph::emulator
