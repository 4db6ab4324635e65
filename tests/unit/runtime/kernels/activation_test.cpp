#include <algorithm>
#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/activation.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace activation_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

struct Activation {
  const char* name;
  void (*forward)(cpu::Queue, View, View);
  void (*backward)(cpu::Queue, View, View, View);
  std::int64_t inputs;  ///< features in for each feature out
};
const Activation activations[] = {{"gelu_exact", cpu::gelu_exact, cpu::gelu_exact_backward, 1},
                                  {"gelu_tanh", cpu::gelu_tanh, cpu::gelu_tanh_backward, 1},
                                  {"relu_squared", cpu::relu_squared, cpu::relu_squared_backward, 1},
                                  {"swiglu", cpu::swiglu, cpu::swiglu_backward, 2},
                                  {"geglu_exact", cpu::geglu_exact, cpu::geglu_exact_backward, 2},
                                  {"geglu_tanh", cpu::geglu_tanh, cpu::geglu_tanh_backward, 2}};

Matrix times(Matrix matrix, double factor) {
  for (double& value : matrix.values) value *= factor;
  return matrix;
}
}  // namespace

TEST_CASE("activations and their gradients are LibTorch's", "[activation]") {
  for (const Activation& activation : activations) {
    for (const auto& [rows, features] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 65}, {40, 1030}}) {
      CAPTURE(activation.name, rows, features);
      const Matrix h = times(random_matrix(rows, features * activation.inputs, 1), 2),
                   dy = random_matrix(rows, features, 2);
      const oracle::Result expected = oracle::activation(activation.name, h, dy);
      check({{{h}}, {{{rows, features, expected.y}}}, [&](const auto& in, const auto& out) {
               activation.forward(cpu::Queue{}, in[0], out[0]);
             }});
      const Matrix dh{rows, h.cols, expected.gradients[0]};
      check({{{h}, {dy}}, {{dh}}, [&](const auto& in, const auto& out) {
               activation.backward(cpu::Queue{}, in[0], in[1], out[0]);
             }});
      // In place: over dy, or over gate and up.
      if (activation.inputs == 1) {
        check({{{h}}, {{dh, Role::activation, dy.values}}, [&](const auto& in, const auto& out) {
                 activation.backward(cpu::Queue{}, in[0], out[0], out[0]);
               }});
      } else {
        check({{{dy}}, {{dh, Role::activation, h.values}}, [&](const auto& in, const auto& out) {
                 activation.backward(cpu::Queue{}, out[0], in[0], out[0]);
               }});
      }
    }
  }
}

TEST_CASE("activations are exact to fp32 over their whole range", "[activation]") {
  Matrix h{1, 40'001, {}};
  for (int i = 0; i < 40'001; ++i) h.values.push_back(rounded(i * 1e-3 - 20, DType::fp32));
  for (const Activation& activation : activations) {
    if (activation.inputs != 1) continue;
    const oracle::Result expected = oracle::activation(activation.name, h, filled(1, h.cols, 1));
    for_each_isa([&](const char* isa) {
      CAPTURE(activation.name, isa);
      const Storage in(h, DType::fp32), ones(filled(1, h.cols, 1), DType::fp32), out(filled(1, h.cols, 0), DType::fp32);
      const auto worst = [&](const Values& reference) {
        double error = 0;
        const Values actual = out.values();
        for (std::size_t i = 0; i < actual.size(); ++i) {
          // Where the result all but vanishes, what counts is its error against that of its summands.
          error = std::max(error, std::fabs(actual[i] - reference[i]) / (std::fabs(reference[i]) + 0.1));
        }
        return error;
      };
      activation.forward(cpu::Queue{}, in.view(), out.view());
      CHECK(worst(expected.y) < 1e-6);
      activation.backward(cpu::Queue{}, in.view(), ones.view(), out.view());
      CHECK(worst(expected.gradients[0]) < 2e-6);
    });
  }
}

TEST_CASE("activations let NaN through and keep infinity apart", "[activation]") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Matrix h{1, 4, {std::numeric_limits<double>::quiet_NaN(), infinity, 1000, -1000}};
  for (const Activation& activation : activations) {
    if (activation.inputs != 1) continue;
    for_each_isa([&](const char* isa) {
      CAPTURE(activation.name, isa);
      for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64}) {
        const Storage in(h, dtype), out(filled(1, 4, 7), dtype), dy(filled(1, 4, 1), dtype);
        activation.forward(cpu::Queue{}, in.view(), out.view());
        CHECK(std::isnan(out.values()[0]));
        CHECK(out.values()[1] == infinity);
        CHECK(out.values()[2] >= 999);
        CHECK(out.values()[3] == 0);
        activation.backward(cpu::Queue{}, in.view(), dy.view(), out.view());
        CHECK(std::isnan(out.values()[0]));
        CHECK(std::isfinite(out.values()[2]));
        CHECK(out.values()[3] == 0);
      }
    });
  }
}

}  // namespace activation_test
