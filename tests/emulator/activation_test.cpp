#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

// Without fused products the CPU's bits, but where elements of 16 bits take a GPU's approximation of a sigmoid; from
// those of a CPU that fuses products they differ by roundings.
namespace monomorph::emulator {
namespace {

struct Size {
  std::int64_t rows, cols;
};
constexpr Size sizes[] = {{0, 8}, {1, 1}, {1, 7}, {3, 64}, {5, 61}, {2, 4099}, {300, 24}, {2, 768}};
/// Elements between rows: none, so many that rows begin as packs do, and so few that they do not.
constexpr std::int64_t gaps[] = {0, 16, 5};

/// Numbers near zero, at the ends of what a sigmoid tells from 0 and 1, and beyond; some are not finite.
Matrix activations(std::int64_t rows, std::int64_t cols, unsigned seed) {
  Matrix matrix = random_matrix(rows, cols, seed);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double special[] = {0.0, -0.0, infinity, -infinity, 60, -60, 1e-20, -1e-20, 5e4, -5e4};
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    if (i % 3 == 1) matrix.values[i] *= 8;
    if (i % 41 == 7) matrix.values[i] = special[(i / 41) % std::size(special)];
  }
  return matrix;
}

using Unary = void (*)(View, View);
using UnaryBackward = void (*)(View, View, View);
struct Activation {
  const char* name;
  Unary gpu, cpu;
  UnaryBackward gpu_backward, cpu_backward;
  /// Of elements of 16 bits a GPU computes all but these by __expf and __fdividef.
  bool exact(DType dtype) const {
    return size_of(dtype) != 2 || std::string_view(name).ends_with("exact") || std::string_view(name) == "relu_squared";
  }
};
#define MONOMORPH_ACTIVATION(name)                                        \
  {                                                                       \
#name, [](View h, View y) { cuda::name(gpu_queue, h, y); },             \
        [](View h, View y) { cpu::name({}, h, y); },                        \
        [](View h, View dy, View dh) { cuda::name##_backward(gpu_queue, h, dy, dh); }, \
        [](View h, View dy, View dh) { cpu::name##_backward({}, h, dy, dh); } \
  }
const Activation unary_activations[] = {MONOMORPH_ACTIVATION(gelu_exact), MONOMORPH_ACTIVATION(gelu_tanh),
                                        MONOMORPH_ACTIVATION(relu_squared)};
const Activation gated_activations[] = {MONOMORPH_ACTIVATION(swiglu), MONOMORPH_ACTIVATION(geglu_exact),
                                        MONOMORPH_ACTIVATION(geglu_tanh)};

/// An approximation with a relative error of 1e-6 before elements of 16 bits are rounded: few of them, and one place
/// then. Infinities and NaNs are those of the CPU, and gaps stay.
void differ_by_few_places(const Storage& actual, const Storage& expected) {
  const DType dtype = actual.view().dtype;
  const double place = dtype == DType::bf16 ? 0x1p-7 : 0x1p-10, least = dtype == DType::bf16 ? 1e-30 : 0x1p-24;
  const Values ours = values_of(actual), cpu = values_of(expected);
  std::size_t others = 0, far = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == cpu[i] || (std::isnan(ours[i]) && std::isnan(cpu[i]))) continue;
    ++others;
    // Not true of a NaN or an infinity that the other has not.
    if (!(std::fabs(ours[i] - cpu[i]) <= std::max(place * std::fabs(cpu[i]), least))) ++far;
  }
  CAPTURE(others, ours.size());
  CHECK(far == 0);
  CHECK(others <= 1 + ours.size() / 500);
  CHECK((actual.view().contiguous() || actual.gap_untouched()));
}
Comparison comparison(const Activation& activation, DType dtype) {
  return activation.exact(dtype) ? have_same_bits : differ_by_few_places;
}

void for_each_case(const std::function<void(DType dtype, Size size, std::int64_t gap)>& f) {
  for (const DType dtype : all_dtypes)
    for (const Size size : sizes)
      for (const std::int64_t gap : gaps) {
        CAPTURE(name_of(dtype), size.rows, size.cols, gap);
        f(dtype, size, gap);
      }
}

}  // namespace

TEST_CASE("activations of one number and their gradients have the CPU's bits, or nearly where a GPU approximates",
          "[activation]") {
  for (const Activation& activation : unary_activations)
    for_each_case([&](DType dtype, Size size, std::int64_t gap) {
      CAPTURE(activation.name);
      const auto [rows, cols] = size;
      const std::vector<Storage> h{{activations(rows, cols, 1), dtype, gap}};
      const auto before = random_storages(rows, cols, dtype, gap, {2, 3});
      check_outputs(
          h, before,
          [&](const auto& in, const auto& out) {
            activation.gpu(in[0], out[0]);
            activation.gpu_backward(in[0], out[1], out[1]);
          },
          [&](const auto& in, const auto& out) {
            activation.cpu(in[0], out[0]);
            activation.cpu_backward(in[0], out[1], out[1]);
          },
          comparison(activation, dtype));
    });
}

TEST_CASE("soft caps and their gradients, of gradients as wide as the logits or narrower, have the CPU's bits",
          "[activation]") {
  for_each_case([&](DType dtype, Size size, std::int64_t gap) {
    const auto [rows, cols] = size;
    const DType wide = dtype == DType::fp64 ? DType::fp64 : DType::fp32;
    const std::vector<Storage> in{{activations(rows, cols, 1), dtype, gap}, {random_matrix(rows, cols, 2), wide, gap}};
    const std::vector<Storage> before{in[0],
                                      {random_matrix(rows, cols, 3), dtype, gap},
                                      {random_matrix(rows, cols, 4), dtype, gap}};
    check_same_bits(
        in, before,
        [](const auto& given, const auto& out) {
          cuda::soft_cap(gpu_queue, out[0], 3, out[0]);
          cuda::soft_cap(gpu_queue, given[0], 3, out[1]);
          cuda::soft_cap_backward(gpu_queue, given[1], out[2], 3, out[2]);
        },
        [](const auto& given, const auto& out) {
          cpu::soft_cap(cpu_queue, out[0], 3, out[0]);
          cpu::soft_cap(cpu_queue, given[0], 3, out[1]);
          cpu::soft_cap_backward(cpu_queue, given[1], out[2], 3, out[2]);
        });
  });
}

TEST_CASE(
    "gated activations and their gradients, in their input's place or another, have the CPU's bits, or nearly where a "
    "GPU approximates",
    "[activation]") {
  for (const Activation& activation : gated_activations)
    for_each_case([&](DType dtype, Size size, std::int64_t gap) {
      CAPTURE(activation.name);
      const auto [rows, cols] = size;
      if (rows == 0) return activation.gpu_backward(View{}, View{}, View{});
      const std::vector<Storage> in{{activations(rows, 2 * cols, 1), dtype, gap},
                                    {random_matrix(rows, cols, 2), dtype, gap}};
      const std::vector<Storage> before{{random_matrix(rows, cols, 3), dtype, gap},
                                        {random_matrix(rows, 2 * cols, 4), dtype, gap},
                                        in[0]};
      check_outputs(
          in, before,
          [&](const auto& given, const auto& out) {
            activation.gpu(given[0], out[0]);
            activation.gpu_backward(given[0], given[1], out[1]);
            activation.gpu_backward(out[2], given[1], out[2]);
          },
          [&](const auto& given, const auto& out) {
            activation.cpu(given[0], out[0]);
            activation.cpu_backward(given[0], given[1], out[1]);
            activation.cpu_backward(out[2], given[1], out[2]);
          },
          comparison(activation, dtype));
    });
}

TEST_CASE("activations differ by a few roundings from those of a CPU that fuses products with sums", "[activation]") {
  const Storage h(random_matrix(64, 768, 1), DType::fp32);
  for (const Activation& activation : unary_activations) {
    CAPTURE(activation.name);
    const std::vector<Storage> y{{filled(64, 768, 1), DType::fp32}, {filled(64, 768, 1), DType::fp32}};
    const auto gpu = outputs_of(
        [&](const auto& in, const auto& out) {
          activation.gpu(in[0], out[0]);
          activation.gpu_backward(in[0], out[1], out[1]);
        },
        {h}, y);
    for_each_isa([&](const char* isa) {
      CAPTURE(isa);
      const auto cpu = outputs_of(
          [&](const auto& in, const auto& out) {
            activation.cpu(in[0], out[0]);
            activation.cpu_backward(in[0], out[1], out[1]);
          },
          {h}, y);
      for (std::size_t i = 0; i < cpu.size(); ++i) CHECK(relative_error(values_of(gpu[i]), values_of(cpu[i])) < 2e-7);
    });
  }
}

TEST_CASE("scale, scale_and_add and fill have the CPU's bits", "[elementwise]") {
  for (const DType x : all_dtypes)
    for_each_case([&](DType y, Size size, std::int64_t gap) {
      CAPTURE(name_of(x));
      const auto [rows, cols] = size;
      check_same_bits(
          random_storages(rows, cols, x, gap, {1}), random_storages(rows, cols, y, gap, {2, 3}),
          [](const auto& in, const auto& out) {
            cuda::scale(gpu_queue, in[0], 0.3, out[0]);
            cuda::scale_and_add(gpu_queue, in[0], 0.7, out[1], -1.1);
          },
          [](const auto& in, const auto& out) {
            cpu::scale({}, in[0], 0.3, out[0]);
            cpu::scale_and_add({}, in[0], 0.7, out[1], -1.1);
          });
    });
  for (const DType dtype : all_dtypes)
    for (const double value : {0.1, 1.0, -1e30, 0.0})
      for (const std::int64_t n : {1, 7, 768, 5000}) {
        CAPTURE(name_of(dtype), value, n);
        check_same_bits(
            {}, random_storages(1, n, dtype, 0, {1}),
            [value](const auto&, const auto& out) { cuda::fill(gpu_queue, out[0], value); },
            [value](const auto&, const auto& out) { cpu::fill({}, out[0], value); });
      }
}

}  // namespace monomorph::emulator
