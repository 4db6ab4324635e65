#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>

#include <cmath>
#include <limits>

#include "runtime/cuda/fp8/round_to_fp8.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/kernels/fp8.hpp"
#include "support/rounded_to_fp8.hpp"

namespace monomorph::emulator {
namespace {

struct Size {
  std::int64_t rows, cols;
};
/// Of a part of a tile, of a whole one, and of several, in rows, in columns and in many rows.
constexpr Size sizes[] = {{16, 16}, {64, 64}, {48, 80}, {80, 144}, {16, 272}, {2112, 16}};

/// Every kind of number: small and great ones, zeros, beyond the greatest, and some that are not finite.
Matrix numbers(std::int64_t rows, std::int64_t cols, bool finite) {
  Matrix matrix = random_matrix(rows, cols, 3);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double special[] = {0.0, -0.0, 1e-3, -1e-4, 448, 460, -1e4, 3e38, 1e-39, -1e-8};
  constexpr double not_finite[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    if (i % 11 == 4) matrix.values[i] = special[i / 11 % std::size(special)];
    if (!finite && i % 97 == 13) matrix.values[i] = not_finite[i / 97 % std::size(not_finite)];
  }
  return matrix;
}

std::uint8_t rounded_by_torch(float x, DType to) { return to == DType::e4m3 ? to_e4m3(x).x : to_e5m2(x).x; }

struct Rounded {
  std::vector<std::uint8_t> as_it_is, transposed;
  std::int64_t maximum = 5;
};

/// What LibTorch makes of it.
Rounded expected_of(const Storage& x, float scale, DType to) {
  const View view = x.view();
  const auto [rows, cols] = view.shape;
  Rounded expected{std::vector<std::uint8_t>(rows * cols), std::vector<std::uint8_t>(rows * cols)};
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) {
      const auto bits = view.as<const std::uint16_t>()[row * view.stride + col];
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
      expected.as_it_is[row * cols + col] = expected.transposed[col * rows + row] = rounded_by_torch(value * scale, to);
      expected.maximum = std::max(expected.maximum, std::int64_t{bits} & 0x7FFF);
    }
  return expected;
}

View bytes(std::vector<std::uint8_t>& of, DType dtype, Shape shape) {
  return {reinterpret_cast<std::byte*>(of.data()), dtype, shape};
}

}  // namespace

TEST_CASE(
    "matrices are rounded to fp8 as LibTorch rounds them, as they are and transposed, with their greatest "
    "magnitude",
    "[fp8]") {
  constexpr std::int64_t gaps[] = {0, 16};
  for (const DType to : {DType::e4m3, DType::e5m2})
    for (const auto& [rows, cols] : sizes)
      for (const std::int64_t gap : gaps)
        for (const float scale : {1.0F, 64.0F, 0.0625F}) {
          CAPTURE(name_of(to), rows, cols, gap, scale);
          const Storage x(numbers(rows, cols, scale == 64), DType::bf16, gap);
          const Rounded expected = expected_of(x, scale, to);
          for_each_schedule([&] {
            for (const bool as_it_is : {true, false})
              for (const bool transposed : {true, false}) {
                if (!as_it_is && !transposed) continue;
                Rounded actual{std::vector<std::uint8_t>(rows * cols, 0xAA),
                               std::vector<std::uint8_t>(rows * cols, 0xAA)};
                const std::vector<std::uint8_t> untouched = actual.as_it_is;
                cuda::round_to_fp8(gpu_queue, writable(x), &scale,
                                   {.as_it_is_RC = as_it_is ? bytes(actual.as_it_is, to, {rows, cols}) : View{},
                                    .transposed_CR = transposed ? bytes(actual.transposed, to, {cols, rows}) : View{}},
                                   as_it_is ? &actual.maximum : nullptr);
                CHECK((actual.as_it_is == (as_it_is ? expected.as_it_is : untouched)));
                CHECK((actual.transposed == (transposed ? expected.transposed : untouched)));
                CHECK(actual.maximum == (as_it_is ? expected.maximum : 5));
              }
          });
        }
}

TEST_CASE("a matrix of more tiles than there are blocks is rounded to fp8 as smaller ones are", "[fp8]") {
  constexpr std::int64_t tile = 64, blocks = std::int64_t{8} * cuda::multiprocessors_to_fill,
                         rows = tile * (blocks + 2), cols = 16;  // two blocks take a second tile
  const Storage x(numbers(rows, cols, true), DType::bf16, 0);
  const Rounded expected = expected_of(x, 1, DType::e4m3);
  for_each_schedule([&] {
    const float scale = 1;
    Rounded actual{std::vector<std::uint8_t>(rows * cols), std::vector<std::uint8_t>(rows * cols)};
    cuda::round_to_fp8(gpu_queue, writable(x), &scale,
                       {.as_it_is_RC = bytes(actual.as_it_is, DType::e4m3, {rows, cols}),
                        .transposed_CR = bytes(actual.transposed, DType::e4m3, {cols, rows})},
                       &actual.maximum);
    CHECK((actual.as_it_is == expected.as_it_is));
    CHECK((actual.transposed == expected.transposed));
    CHECK(actual.maximum == expected.maximum);
  });
}

TEST_CASE("scales have the CPU's bits", "[fp8]") {
  for (const std::int64_t updates : {1, 16, 75})
    for (const int margin : {0, 3}) {
      CAPTURE(updates, margin);
      Matrix history = random_matrix(6, updates, 1);
      for (std::size_t i = 0; i < history.values.size(); ++i)
        history.values[i] = i % 6 == 0 ? 0 : std::abs(history.values[i]) * std::pow(10, static_cast<double>(i % 9) - 4);
      const std::vector<Storage> in{{history, DType::bf16}},
          before{{filled(1, 2 * numbers_of_scales, std::nan("")), DType::fp32}};
      check_same_bits(
          in, before, [&](const auto& of, const auto& to) { cuda::amax_scales(gpu_queue, of[0], margin, to[0]); },
          [&](const auto& of, const auto& to) { cpu::amax_scales(cpu_queue, of[0], margin, to[0]); });
    }
}

TEST_CASE("maxima are recorded where the CPU records them", "[fp8]") {
  constexpr std::int64_t first = 100;
  const Shape history{6, 7};
  std::vector<std::int64_t> maxima;
  for (std::int64_t i = 0; i < history.rows; ++i) maxima.push_back(0x3F80 + 5 * i);
  for (const DType master : {DType::fp32, DType::bf16})
    for (const bool applies : {true, false})
      for (const std::int64_t begin : {0, 64, 128})
        for (const std::uint64_t update : {1, 7, 20}) {
          CAPTURE(name_of(master), applies, begin, update);
          const UpdateDecision decision{.applies = applies, .gradient_scale = 1, .update = update};
          const std::vector<Storage> before{{filled(1, 64, -1), master}, {filled(1, 64, -2), DType::bf16}};
          const auto run = [&](const std::vector<View>& to) {
            return ElementUpdate{.gradient = {},
                                 .master = to[0],
                                 .rounded = to[1],
                                 .first = static_cast<std::uint64_t>(begin)};
          };
          check_same_bits(
              {}, before,
              [&](const auto&, const auto& to) {
                cuda::record_amax(gpu_queue, run(to), first, history, maxima.data(), {.decision = &decision});
              },
              [&](const auto&, const auto& to) {
                cpu::record_amax(cpu_queue, run(to), first, history, maxima.data(), {.decision = &decision});
              });
        }
}

}  // namespace monomorph::emulator
