// Activations that are rounded to fp8 by the kernel that makes them, beside those that are stored as bf16 first and
// rounded by a kernel of its own: the same bits and the same maxima.
#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/activate.hpp>

#include "runtime/cuda/products/round_activation.hpp"

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

}  // namespace monomorph::emulator
