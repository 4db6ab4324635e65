#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/memory/workspace.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace linear_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

struct Sizes {
  std::int64_t m, k, n;
};
// Single elements, odd sizes, few rows as in decoding, and products of several tiles in each direction.
constexpr Sizes all_sizes[] = {{1, 1, 1},    {1, 100, 50}, {2, 67, 49},  {3, 65, 7},     {5, 128, 97},  {8, 48, 130},
                               {16, 33, 51}, {17, 33, 51}, {65, 3, 129}, {300, 520, 33}, {70, 300, 600}};

struct Case {
  Matrix x, w, bias, dy;
  oracle::Result expected;
  Case(const Sizes& sizes, bool has_bias)
      : x(random_matrix(sizes.m, sizes.k, 1)),
        w(random_matrix(sizes.n, sizes.k, 2)),
        bias(has_bias ? random_matrix(1, sizes.n, 3) : Matrix{}),
        dy(random_matrix(sizes.m, sizes.n, 4)),
        expected(oracle::linear(x, w, bias, dy)) {}
};

Values sum(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
}  // namespace

TEST_CASE("linear layers give what LibTorch gives", "[linear]") {
  for (const Sizes& sizes : all_sizes) {
    for (const bool has_bias : {false, true}) {
      CAPTURE(sizes.m, sizes.k, sizes.n, has_bias);
      const Case c(sizes, has_bias);
      const Matrix y{sizes.m, sizes.n, c.expected.y}, residual = random_matrix(sizes.m, sizes.n, 5);
      check({{{c.x}, {c.w}, {c.bias}}, {{y}}, [](const auto& in, const auto& out) {
               cpu::linear(cpu::Queue{}, in[0], in[1], in[2], out[0]);
             }});
      const Matrix sum_y{sizes.m, sizes.n, sum(c.expected.y, residual.values)};
      check({{{c.x}, {c.w}, {c.bias}, {residual}}, {{sum_y}}, [](const auto& in, const auto& out) {
               cpu::linear_add(cpu::Queue{}, in[0], in[1], in[2], in[3], out[0]);
             }});
      check(
          {{{c.x}, {c.w}, {c.bias}}, {{sum_y, Role::activation, residual.values}}, [](const auto& in, const auto& out) {
             cpu::linear_add(cpu::Queue{}, in[0], in[1], in[2], out[0], out[0]);
           }});
    }
  }
}

TEST_CASE("the gradients of linear layers are those of autograd", "[linear]") {
  for (const Sizes& sizes : all_sizes) {
    for (const bool accumulate : {false, true}) {
      CAPTURE(sizes.m, sizes.k, sizes.n, accumulate);
      const Case c(sizes, true);
      const auto before = [&](std::int64_t rows, std::int64_t cols, unsigned seed) {
        return accumulate ? random_matrix(rows, cols, seed).values : Values{};
      };
      const auto after = [&](const Values& gradient, const Values& start) {
        return accumulate ? sum(gradient, start) : gradient;
      };
      const Values dx0 = before(sizes.m, sizes.k, 6), dw0 = before(sizes.n, sizes.k, 7), dbias0 = before(1, sizes.n, 8);
      const Matrix dx{sizes.m, sizes.k, after(c.expected.gradients[0], dx0)};
      const Matrix dw{sizes.n, sizes.k, after(c.expected.gradients[1], dw0)};
      const Matrix dbias{1, sizes.n, after(c.expected.gradients[2], dbias0)};
      check({{{c.dy}, {c.w}}, {{dx, Role::activation, dx0}}, [=](const auto& in, const auto& out) {
               cpu::linear_backward_input(cpu::Queue{}, in[0], in[1], out[0], accumulate);
             }});
      check({{{c.dy}, {c.x}},
             {{dw, Role::gradient, dw0}, {dbias, Role::gradient, dbias0}},
             [=](const auto& in, const auto& out) {
               cpu::linear_backward_weight(cpu::Queue{}, in[0], in[1], out[0], out[1], accumulate);
             }});
      check({{{c.dy}, {c.x}}, {{dw, Role::gradient, dw0}}, [=](const auto& in, const auto& out) {
               cpu::linear_backward_weight(cpu::Queue{}, in[0], in[1], out[0], View{}, accumulate);
             }});
    }
  }
}

TEST_CASE("logits of bf16 operands are kept in fp32", "[linear]") {
  const Case c({65, 130, 100}, false);
  check({{{c.x}, {c.w}}, {{{65, 100, c.expected.y}, Role::statistics}}, [](const auto& in, const auto& out) {
           cpu::linear(cpu::Queue{}, in[0], in[1], View{}, out[0]);
         }});
}

TEST_CASE("what is decoded in one pass with other texts has the bits that it has alone", "[linear]") {
  constexpr std::int64_t most = 16, k = 133, n = 101;
  const Matrix x = random_matrix(most, k, 1), w = random_matrix(n, k, 2), bias = random_matrix(1, n, 3);
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    for (const DType dtype : {DType::fp32, DType::bf16}) {
      CAPTURE(name_of(dtype));
      const Storage x_MK(x, dtype), w_NK(w, dtype), bias_N(bias, dtype), all(filled(most, n, 0), dtype);
      cpu::linear(cpu::Queue{}, x_MK.view(), w_NK.view(), bias_N.view(), all.view());
      for (std::int64_t m = 1; m < most; ++m) {
        const Storage some(filled(m, n, 0), dtype);
        cpu::linear(cpu::Queue{}, x_MK.view().rows(most - m, m), w_NK.view(), bias_N.view(), some.view());
        const Values values = all.values(), expected(values.end() - m * n, values.end());
        CHECK(some.values() == expected);
      }
    }
  });
}

TEST_CASE("products let NaN and infinity through", "[linear]") {
  Matrix x = filled(2, 3, 1);
  x.values[0] = std::numeric_limits<double>::quiet_NaN();
  x.values[3] = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    const Storage x_MK(x, dtype), w_NK(filled(2, 3, 1), dtype), y_MN(filled(2, 2, 0), dtype);
    cpu::linear(cpu::Queue{}, x_MK.view(), w_NK.view(), View{}, y_MN.view());
    CHECK(std::isnan(y_MN.values()[0]));
    CHECK(y_MN.values()[2] == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("the kernels' own memory is known before anything runs", "[linear]") {
  with_threads(1, [] { CHECK(kernel_workspace_bytes() > 0); });
  const auto of = [](int threads) {
    std::int64_t bytes = 0;
    with_threads(threads, [&] { bytes = kernel_workspace_bytes(); });
    return bytes;
  };
  CHECK(of(3) - of(2) == of(2) - of(1));
}

}  // namespace linear_test
