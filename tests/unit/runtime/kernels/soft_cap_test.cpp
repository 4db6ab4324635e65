#include <algorithm>
#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace soft_cap_test {

using namespace monomorph;
using namespace monomorph::testing;

TEST_CASE("soft caps and their gradients are LibTorch's, in place or not", "[soft_cap]") {
  for (const double cap : {0.7, 5.0, 300.0})
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 65}, {40, 1030}}) {
      CAPTURE(cap, rows, columns);
      Matrix x = random_matrix(rows, columns, 1);
      for (double& value : x.values) value *= cap;
      const Matrix dy = random_matrix(rows, columns, 2);
      const oracle::Result expected = oracle::soft_cap(x, cap, dy);
      const Matrix y{rows, columns, expected.y}, dx{rows, columns, expected.gradients[0]};
      check({{{x}}, {{y}}, [&](const auto& in, const auto& out) { cpu::soft_cap({}, in[0], cap, out[0]); }});
      check({{}, {{y, Role::activation, x.values}}, [&](const auto&, const auto& out) {
               cpu::soft_cap({}, out[0], cap, out[0]);
             }});
      check({{{y}, {dy}}, {{dx}}, [&](const auto& in, const auto& out) {
               cpu::soft_cap_backward({}, in[0], in[1], cap, out[0]);
             }});
      check({{{y}}, {{dx, Role::activation, dy.values}}, [&](const auto& in, const auto& out) {
               cpu::soft_cap_backward({}, in[0], out[0], cap, out[0]);
             }});
    }
}

TEST_CASE("soft caps are exact to fp32 over their whole range, and never passed", "[soft_cap]") {
  constexpr double cap = 30;
  Matrix x{1, 80'001, {}};
  for (int i = 0; i < 80'001; ++i) x.values.push_back(rounded((i - 40'000) * 1e-2, DType::fp32));
  for (int i = 0; i < 4; ++i) x.values[static_cast<std::size_t>(i)] = rounded(std::pow(10, -8 * i), DType::fp32);
  const oracle::Result expected = oracle::soft_cap(x, cap, filled(1, x.cols, 1));
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    const Storage in(x, DType::fp32), out(filled(1, x.cols, 0), DType::fp32);
    cpu::soft_cap({}, in.view(), cap, out.view());
    const Values y = out.values();
    double error = 0, most = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      most = std::max(most, std::abs(y[i]));
      if (expected.y[i] != 0) error = std::max(error, std::abs(y[i] / expected.y[i] - 1));
    }
    CHECK(error < 6e-7);
    CHECK(most <= cap);
  });
}

TEST_CASE("a soft cap lets NaN through and bounds infinity", "[soft_cap]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Matrix x{1, 4, {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0}};
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16, DType::fp64})
    for_each_isa([&](const char* isa) {
      CAPTURE(isa, name_of(dtype));
      const Storage in(x, dtype), out(filled(1, 4, 7), dtype);
      cpu::soft_cap({}, in.view(), 32, out.view());
      CHECK(std::isnan(out.values()[0]));
      CHECK(out.values()[1] == Approx(32).epsilon(1e-6));
      CHECK(out.values()[2] == Approx(-32).epsilon(1e-6));
      CHECK(out.values()[3] == 0);
    });
}

TEST_CASE("logits of 16 bits are rounded before their cap and after", "[soft_cap]") {
  constexpr double cap = 30;
  const Matrix x = random_matrix(7, 33, 3);
  const Storage in(x, DType::bf16), out(filled(7, 33, 0), DType::bf16);
  cpu::soft_cap({}, in.view(), cap, out.view());
  const Values from = in.values(), y = out.values();
  for (std::size_t i = 0; i < y.size(); ++i)
    CHECK(y[i] == rounded(static_cast<float>(cap * std::tanh(from[i] / cap)), DType::bf16));
}

}  // namespace soft_cap_test
