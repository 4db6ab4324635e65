#include <algorithm>
#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include "kernel_case.hpp"
#include "out_of_tree/focal_loss.hpp"
#include "support/catch.hpp"

namespace cross_entropy_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

struct Case {
  std::int64_t rows, columns, vocab_size;
};
constexpr Case cases[] = {{1, 1, 1}, {3, 65, 65}, {7, 64, 61}, {5, 1600, 1500}};

/// Every third target is ignored.
std::vector<std::int32_t> targets_of(const Case& c) {
  std::vector<std::int32_t> targets;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    targets.push_back(i % 3 == 2 ? ignored_target : static_cast<std::int32_t>((i * 37 + 11) % c.vocab_size));
  }
  return targets;
}
Matrix times(Matrix matrix, double factor) {
  for (double& value : matrix.values) value *= factor;
  return matrix;
}
}  // namespace

TEST_CASE("gradients are weighed by token, and losses are not", "[cross_entropy]") {
  const std::vector<double> weights{0.5, -1, 7, 0};
  const std::vector<std::int32_t> targets{3, 0, ignored_target, 5};
  const Matrix logits = random_matrix(4, 64, 1);
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const bool of_own : {false, true}) {  // by the kernel, or by arithmetic of one's own
      CAPTURE(name_of(dtype), of_own);
      const auto gradients = [&](double scale, const View& weight) {
        const Storage in(logits, dtype), loss(filled(1, 4, 7), dtype), out(filled(4, 64, 7), dtype);
        LossSum sum;
        const TokenLogits tokens{in.view(), targets.data(), 61, loss.view(), out.view(), &scale, &sum, weight};
        if (of_own)
          stranger::FocalLoss::loss(cpu::Queue{}, tokens, {});
        else
          cpu::cross_entropy({}, tokens);
        return std::tuple(out.values(), loss.values(), sum.loss);
      };
      const Storage weight({1, 4, weights}, dtype);
      const auto [weighed, loss, sum] = gradients(8, weight.view());
      CHECK(loss == std::get<1>(gradients(8, {})));
      CHECK(sum == std::get<2>(gradients(8, {})));
      for (std::size_t row = 0; row < 4; ++row) {
        Values expected = std::get<0>(gradients(row == 2 ? 1 : 8 * weights[row], {}));
        for (std::size_t i = row * 64; i < (row + 1) * 64; ++i)
          CHECK(weighed[i] == Approx(expected[i]).epsilon(1e-6).margin(1e-12));
      }
    }
}

TEST_CASE("logits stay where gradients have another place, as wide or narrower, and these are what they are in place",
          "[cross_entropy]") {
  const std::vector<std::int32_t> targets{3, 0, ignored_target, 5};
  const Matrix logits = random_matrix(4, 64, 1);
  for (const auto& [dtype, narrow] : {std::pair{DType::fp32, DType::fp32},
                                      {DType::fp64, DType::fp64},
                                      {DType::bf16, DType::bf16},
                                      {DType::fp32, DType::bf16}})
    for (const bool of_own : {false, true}) {
      CAPTURE(name_of(dtype), name_of(narrow), of_own);
      const auto run = [&, loss_dtype = dtype == DType::fp64 ? DType::fp64 : DType::fp32](const View& in,
                                                                                          const View& to) {
        const Storage loss(filled(1, 4, 7), loss_dtype);
        const TokenLogits tokens{in, targets.data(), 61, loss.view(), to};
        if (of_own)
          stranger::FocalLoss::loss(cpu::Queue{}, tokens, {});
        else
          cpu::cross_entropy({}, tokens);
        return loss.values();
      };
      const Storage given(logits, dtype), in_place(logits, dtype), apart(filled(4, 64, 7), narrow);
      const std::vector<std::byte> before = given.bytes();
      CHECK(run(given.view(), apart.view()) == run(in_place.view(), in_place.view()));
      CHECK((given.bytes() == before));
      if (narrow == dtype) CHECK((apart.bytes() == in_place.bytes()));
    }
}

TEST_CASE("cross-entropy and its gradient are LibTorch's", "[cross_entropy]") {
  for (const Case& c : cases) {
    for (const double spread : {1.0, 30.0}) {
      CAPTURE(c.rows, c.columns, c.vocab_size, spread);
      const auto targets = targets_of(c);
      const Matrix logits = times(random_matrix(c.rows, c.columns, 1), spread);
      const oracle::Result expected = oracle::cross_entropy(logits, targets, c.vocab_size);
      const Matrix loss{1, c.rows, expected.y}, dlogits{c.rows, c.columns, expected.gradients[0]};
      check({{{logits}}, {{loss, Role::statistics}, {dlogits}}, [&](const auto& in, const auto& out) {
               LossSum sum;
               cpu::cross_entropy({}, {in[0], targets.data(), c.vocab_size, out[0], out[1], &unscaled, &sum});
               CHECK(sum.tokens == c.rows - c.rows / 3);
               double total = 0;
               for (std::int64_t i = 0; i < c.rows; ++i) {
                 total += out[0].dtype == DType::fp64 ? out[0].template as<double>()[i]
                                                      : static_cast<double>(out[0].template as<float>()[i]);
               }
               CHECK(sum.loss == total);
             }});
      check({{},
             {{loss, Role::statistics}, {dlogits, Role::activation, logits.values}},
             [&](const auto&, const auto& out) {
               cpu::cross_entropy({}, {out[1], targets.data(), c.vocab_size, out[0], out[1]});
             }});
      check({{{logits}}, {{loss, Role::statistics}}, [&](const auto& in, const auto& out) {
               cpu::cross_entropy({}, {in[0], targets.data(), c.vocab_size, out[0], View{}});
             }});
      // fp32 logits, gradient in the activations' dtype.
      check({{{logits, Role::statistics}}, {{loss, Role::statistics}, {dlogits}}, [&](const auto& in, const auto& out) {
               cpu::cross_entropy({}, {in[0], targets.data(), c.vocab_size, out[0], out[1]});
             }});
    }
  }
}

TEST_CASE("label smoothing and z-loss are what LibTorch's autograd makes of them", "[cross_entropy]") {
  for (const Case& c : cases)
    for (const LossTerms terms :
         {LossTerms{.label_smoothing = 0.1}, {.z_loss = 0.01}, {.label_smoothing = 0.3, .z_loss = 1e-3}}) {
      CAPTURE(c.rows, c.columns, c.vocab_size, terms.label_smoothing, terms.z_loss);
      const auto targets = targets_of(c);
      const Matrix logits = times(random_matrix(c.rows, c.columns, 1), 3);
      const oracle::Result expected =
          oracle::cross_entropy(logits, targets, c.vocab_size, terms.label_smoothing, terms.z_loss);
      const Matrix loss{1, c.rows, expected.y}, dlogits{c.rows, c.columns, expected.gradients[0]};
      check({{{logits}}, {{loss, Role::statistics}, {dlogits}}, [&](const auto& in, const auto& out) {
               cpu::cross_entropy({}, {in[0], targets.data(), c.vocab_size, out[0], out[1]}, terms);
             }});
      check({{},
             {{loss, Role::statistics}, {dlogits, Role::activation, logits.values}},
             [&](const auto&, const auto& out) {
               cpu::cross_entropy({}, {out[1], targets.data(), c.vocab_size, out[0], out[1]}, terms);
             }});
    }
}

TEST_CASE("an objective from outside, token by token, is what LibTorch's autograd makes of it", "[cross_entropy]") {
  for (const Case& c : cases) {
    const auto targets = targets_of(c);
    // Numbers that all dtypes have.
    const Matrix logits{c.rows, c.columns,
                        Storage(times(random_matrix(c.rows, c.columns, 1), 2), DType::bf16).values()};
    const oracle::Result expected = oracle::focal_loss(logits, targets, c.vocab_size);
    for (const double scale : {1.0, 8.0})
      for (const DType dtype : {DType::fp32, DType::fp64, DType::bf16}) {
        const Storage in(logits, dtype), loss(filled(1, c.rows, 7), statistics_dtype(dtype)),
            out(filled(c.rows, c.columns, 7), DType::bf16);
        LossSum sum;
        stranger::FocalLoss::loss(cpu::Queue{},
                                  TokenLogits{in.view(), targets.data(), c.vocab_size, loss.view(), out.view(), &scale,
                                              &sum},
                                  stranger::FocalLoss::Hparams{});
        CHECK(sum.tokens == c.rows - c.rows / 3);
        if (c.vocab_size == 1) continue;  // its loss is zero
        CHECK(relative_error(loss.values(), expected.y) < (dtype == DType::fp64 ? 1e-12 : 1e-5));
        CHECK(relative_error(times({c.rows, c.columns, out.values()}, 1 / scale).values, expected.gradients[0]) <
              0x1p-8);
      }
  }
}

TEST_CASE("padding and ignored targets have no gradient, whatever their logits are", "[cross_entropy]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Matrix logits{2, 4, {0, 0, nan, 100, nan, nan, nan, nan}};
  const std::int32_t targets[] = {0, ignored_target};
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    const Storage in(logits, DType::fp32), loss(filled(1, 2, 7), DType::fp32), out(filled(2, 4, 7), DType::fp32);
    LossSum sum;
    cpu::cross_entropy({}, {in.view(), targets, 2, loss.view(), out.view(), &unscaled, &sum});
    CHECK(sum.tokens == 1);
    CHECK(sum.loss == Approx(std::log(2.0)));
    CHECK(relative_error(out.values(), {-0.5, 0.5, 0, 0, 0, 0, 0, 0}) < 1e-6);
  });
}

TEST_CASE("a batch without counted tokens has the loss zero of zero tokens", "[cross_entropy]") {
  const std::int32_t targets[] = {ignored_target, ignored_target};
  const Storage in(random_matrix(2, 70, 1), DType::fp32), loss(filled(1, 2, 7), DType::fp32);
  const Storage out(filled(2, 70, 7), DType::fp32);
  LossSum sum;
  cpu::cross_entropy({}, {in.view(), targets, 70, loss.view(), out.view(), &unscaled, &sum});
  CHECK(sum.tokens == 0);
  CHECK(sum.loss == 0);
  CHECK(out.values() == Values(140, 0));
}

TEST_CASE("logits of minus infinity have the probability zero: NaN and infinity give NaN", "[cross_entropy]") {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Matrix logits{3, 2, {1, -infinity, infinity, 0, 0, nan}};
  const std::int32_t targets[] = {0, 1, 0};
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    const Storage in(logits, DType::fp32), loss(filled(1, 3, 7), DType::fp32), out(filled(3, 2, 7), DType::fp32);
    LossSum sum;
    cpu::cross_entropy({}, {in.view(), targets, 2, loss.view(), out.view(), &unscaled, &sum});
    CHECK(loss.values()[0] == 0);
    CHECK(out.values()[1] == 0);
    CHECK(std::isnan(loss.values()[1]));
    CHECK(std::isnan(loss.values()[2]));
    CHECK(std::isnan(sum.loss));
  });
}

}  // namespace cross_entropy_test
