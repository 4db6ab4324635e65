#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/norm.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace norm_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

struct Sizes {
  std::int64_t m, d, h;
};
// Whole rows and heads of rows; more rows than one block of partial sums, rows longer than one chunk.
constexpr Sizes all_sizes[] = {{1, 1, 1}, {3, 65, 65}, {130, 48, 16}, {70, 1030, 1030}, {2100, 6, 3}};
constexpr double epsilon = 1e-5;

struct Case {
  Matrix x, weight, bias, dy;
  Values mean, rstd;
  oracle::Result expected;
  /// @param offset of the weights
  Case(const Sizes& sizes, bool layer, bool has_bias, double offset = 0)
      : x(random_matrix(sizes.m, sizes.d, 1)),
        weight(random_matrix(1, sizes.h, 2)),
        bias(has_bias ? random_matrix(1, sizes.h, 3) : Matrix{}),
        dy(random_matrix(sizes.m, sizes.d, 4)) {
    for (double& value : x.values) value += 0.5;
    Matrix multiplies = weight;
    for (double& value : multiplies.values) value += offset;
    expected = layer ? oracle::layer_norm(x, multiplies, bias, epsilon, dy)
                     : oracle::rms_norm(x, multiplies, bias, epsilon, dy);
    for (std::size_t first = 0; first < x.values.size(); first += static_cast<std::size_t>(sizes.h)) {
      double sum = 0, squares = 0;
      const auto n = static_cast<double>(sizes.h);
      for (std::size_t i = 0; i < static_cast<std::size_t>(sizes.h); ++i) sum += x.values[first + i];
      const double centre = layer ? sum / n : 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(sizes.h); ++i) {
        squares += (x.values[first + i] - centre) * (x.values[first + i] - centre);
      }
      mean.push_back(centre);
      rstd.push_back(1 / std::sqrt(squares / n + epsilon));
    }
  }
  std::int64_t groups() const { return static_cast<std::int64_t>(rstd.size()); }
};

void check_forward(const Sizes& sizes, bool layer, bool has_bias, double offset = no_weight_offset) {
  const Case c(sizes, layer, has_bias, offset);
  const Matrix y{sizes.m, sizes.d, c.expected.y}, mean{1, c.groups(), c.mean}, rstd{1, c.groups(), c.rstd};
  if (layer) {
    check({{{c.x}, {c.weight}, {c.bias}},
           {{y}, {mean, Role::statistics}, {rstd, Role::statistics}},
           [](const auto& in, const auto& out) {
             cpu::layer_norm(cpu::Queue{}, in[0], in[1], in[2], epsilon, out[0], out[1], out[2]);
           }});
  } else {
    check({{{c.x}, {c.weight}, {c.bias}}, {{y}, {rstd, Role::statistics}}, [offset](const auto& in, const auto& out) {
             cpu::rms_norm(cpu::Queue{}, in[0], in[1], in[2], epsilon, out[0], out[1], offset);
           }});
  }
}

void check_backward(const Sizes& sizes, bool layer, bool has_bias, bool accumulate, double offset = no_weight_offset) {
  const Case c(sizes, layer, has_bias, offset);
  const auto output = [&](std::int64_t rows, std::int64_t cols, const Values& gradient, Role role) {
    if (!accumulate || gradient.empty()) return Output{{gradient.empty() ? 0 : rows, cols, gradient}, role};
    const Values before = random_matrix(rows, cols, 9).values;
    Values after = gradient;
    for (std::size_t i = 0; i < after.size(); ++i) after[i] += before[i];
    return Output{{rows, cols, after}, role, before};
  };
  const std::vector<Output> outputs{output(sizes.m, sizes.d, c.expected.gradients[0], Role::activation),
                                    output(1, sizes.h, c.expected.gradients[1], Role::gradient),
                                    output(1, sizes.h, c.expected.gradients[2], Role::gradient)};
  const Matrix mean{layer ? 1 : 0, c.groups(), c.mean}, rstd{1, c.groups(), c.rstd};
  check({{{c.dy}, {c.x}, {c.weight}, {mean, Role::statistics}, {rstd, Role::statistics}},
         outputs,
         [=](const auto& in, const auto& out) {
           if (layer) {
             cpu::layer_norm_backward(cpu::Queue{}, in[0], in[1], in[2], in[3], in[4], out[0], accumulate, out[1],
                                      out[2], accumulate);
           } else {
             cpu::rms_norm_backward(cpu::Queue{}, in[0], in[1], in[2], in[4], out[0], accumulate, out[1], out[2],
                                    accumulate, offset);
           }
         },
         1e-9,
         1e-4});
}
}  // namespace

TEST_CASE("norms give what LibTorch gives", "[norm]") {
  for (const Sizes& sizes : all_sizes) {
    for (const bool layer : {false, true}) {
      for (const bool has_bias : {false, true}) {
        CAPTURE(sizes.m, sizes.d, sizes.h, layer, has_bias);
        check_forward(sizes, layer, has_bias);
      }
    }
  }
}

TEST_CASE("the gradients of norms are those of autograd", "[norm]") {
  for (const Sizes& sizes : all_sizes) {
    if (sizes.h == 1) continue;  // a layer norm of one feature has the gradient zero
    for (const bool layer : {false, true}) {
      for (const bool has_bias : {false, true}) {
        for (const bool accumulate : {false, true}) {
          CAPTURE(sizes.m, sizes.d, sizes.h, layer, has_bias, accumulate);
          check_backward(sizes, layer, has_bias, accumulate);
        }
      }
    }
  }
}

TEST_CASE("weights that store by how much they differ from 1 are those of autograd with 1 more", "[norm]") {
  for (const Sizes& sizes : all_sizes)
    for (const bool has_bias : {false, true}) {
      CAPTURE(sizes.m, sizes.d, sizes.h, has_bias);
      check_forward(sizes, false, has_bias, 1);
      if (sizes.h == 1) continue;
      for (const bool accumulate : {false, true}) check_backward(sizes, false, has_bias, accumulate, 1);
    }
}

TEST_CASE("norms repeated from saved statistics give the same bits", "[norm]") {
  for_each_isa([](const char* isa) {
    CAPTURE(isa);
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64}) {
      const Case c({37, 1030, 1030}, true, true);
      const DType statistics = statistics_dtype(dtype);
      const Storage x(c.x, dtype, 3), weight(c.weight, dtype), bias(c.bias, dtype), y(filled(37, 1030, 0), dtype, 1);
      const Storage again(filled(37, 1030, 0), dtype), mean(filled(1, 37, 0), statistics);
      const Storage rstd(filled(1, 37, 0), statistics);
      cpu::layer_norm(cpu::Queue{}, x.view(), weight.view(), bias.view(), epsilon, y.view(), mean.view(), rstd.view());
      cpu::layer_norm_recompute(cpu::Queue{}, x.view(), weight.view(), bias.view(), mean.view(), rstd.view(),
                                again.view());
      CHECK(y.values() == again.values());
      for (const double offset : {no_weight_offset, 1.0}) {
        cpu::rms_norm(cpu::Queue{}, x.view(), weight.view(), View{}, epsilon, y.view(), rstd.view(), offset);
        cpu::rms_norm_recompute(cpu::Queue{}, x.view(), weight.view(), View{}, rstd.view(), again.view(), offset);
        CHECK(y.values() == again.values());
      }
    }
  });
}

TEST_CASE("where nothing is added to the weights of a norm, a zero keeps its sign", "[norm]") {
  const Matrix zeros{1, 2, {0.0, -0.0}};
  const Storage x(filled(1, 2, 1), DType::fp32), weight(zeros, DType::fp32), y(filled(1, 2, 7), DType::fp32),
      rstd(filled(1, 1, 0), DType::fp32);
  cpu::rms_norm(cpu::Queue{}, x.view(), weight.view(), View{}, epsilon, y.view(), rstd.view());
  CHECK_FALSE(std::signbit(y.values()[0]));
  CHECK(std::signbit(y.values()[1]));
}

TEST_CASE("the gradient of a norm may overwrite the gradient that comes in", "[norm]") {
  const Case c({20, 600, 600}, true, true);
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    const Storage dy(c.dy, dtype), x(c.x, dtype), weight(c.weight, dtype), dx(filled(20, 600, 0), dtype);
    const Storage mean({1, 20, c.mean}, DType::fp32), rstd({1, 20, c.rstd}, DType::fp32);
    const Storage dweight(filled(1, 600, 0), DType::fp32), dbias(filled(1, 600, 0), DType::fp32);
    const auto backward = [&](const View& to) {
      cpu::layer_norm_backward(cpu::Queue{}, dy.view(), x.view(), weight.view(), mean.view(), rstd.view(), to, false,
                               dweight.view(), dbias.view(), false);
    };
    backward(dx.view());
    backward(dy.view());
    CHECK(dx.bytes() == dy.bytes());
  }
}

TEST_CASE("a NaN or an infinity stays in its row of a norm", "[norm]") {
  Matrix x = random_matrix(3, 65, 1);
  x.values[64] = std::numeric_limits<double>::quiet_NaN();
  x.values[65] = std::numeric_limits<double>::infinity();
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    const Storage in(x, DType::fp32), weight(filled(1, 65, 1), DType::fp32), y(filled(3, 65, 0), DType::fp32);
    const Storage mean(filled(1, 3, 0), DType::fp32), rstd(filled(1, 3, 0), DType::fp32);
    cpu::layer_norm(cpu::Queue{}, in.view(), weight.view(), View{}, epsilon, y.view(), mean.view(), rstd.view());
    CHECK(std::isnan(y.values()[0]));
    CHECK(std::isnan(y.values()[65]));
    for (std::size_t i = 130; i < 195; ++i) CHECK(std::isfinite(y.values()[i]));
  });
}

}  // namespace norm_test
