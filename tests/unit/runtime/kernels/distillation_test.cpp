// What compares a student with its teacher, against LibTorch's operators and its autograd.
#include <cmath>
#include <monomorph/runtime/kernels/distillation.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace distillation_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

struct Case {
  std::int64_t rows, columns, vocab_size;
};
constexpr Case cases[] = {{1, 2, 2}, {3, 65, 65}, {7, 64, 61}, {5, 1600, 1500}};

/// Every third target is ignored.
std::vector<std::int32_t> targets_of(const Case& c) {
  std::vector<std::int32_t> targets;
  for (std::int64_t i = 0; i < c.rows; ++i)
    targets.push_back(i % 3 == 2 ? ignored_target : static_cast<std::int32_t>((i * 37 + 11) % c.vocab_size));
  return targets;
}
Matrix times(Matrix matrix, double factor) {
  for (double& value : matrix.values) value *= factor;
  return matrix;
}
/// Rows of the same columns, one after the other.
Matrix stacked(const std::vector<Values>& rows) {
  Matrix all{std::ssize(rows), std::ssize(rows[0]), {}};
  for (const Values& row : rows) all.values.insert(all.values.end(), row.begin(), row.end());
  return all;
}
oracle::Distillation of_oracle(const DistillationTerms& terms) {
  using enum oracle::Distillation::Divergence;
  return {terms.divergence == Divergence::forward_kl   ? forward
          : terms.divergence == Divergence::reverse_kl ? reverse
                                                       : jensen_shannon,
          terms.temperature, terms.teacher_weight};
}

/// What is alike in both models cancels, and what is left of numbers of fp32 is less exact than they are.
constexpr double of_fp32 = 5e-5;

void check_case(const Case& c, const DistillationTerms& terms, double spread) {
  CAPTURE(c.rows, c.columns, c.vocab_size, static_cast<int>(terms.divergence), terms.temperature, terms.teacher_weight);
  const auto targets = targets_of(c);
  const Matrix logits = times(random_matrix(c.rows, c.columns, 1), spread),
               teacher = times(random_matrix(c.rows, c.columns, 2), spread);
  const oracle::Distilled expected = oracle::distillation(logits, teacher, targets, c.vocab_size, of_oracle(terms));
  const Matrix loss{1, c.rows, expected.losses}, dlogits{c.rows, c.columns, expected.gradient},
      metrics = stacked(expected.metrics);
  const auto run = [&](const View& in, const View& of_teacher, const View& out, const View& gradient,
                       const View& measured) {
    LossSum sum;
    const TokenLogits tokens{in, targets.data(), c.vocab_size, out, gradient, &unscaled, &sum};
    cpu::distillation_loss({}, {tokens, of_teacher, measured}, terms);
    CHECK(sum.tokens == c.rows - c.rows / 3);
    const auto total = [](const View& row) {
      double added = 0;
      for (std::int64_t i = 0; i < row.elements(); ++i)
        added += row.dtype == DType::fp64 ? row.as<double>()[i] : static_cast<double>(row.as<float>()[i]);
      return added;
    };
    CHECK(sum.loss == total(out));
    for (std::int64_t k = 0; k < 4; ++k) CHECK(sum.metrics[static_cast<std::size_t>(k)] == total(measured.rows(k, 1)));
  };
  const Input of_teacher{teacher, Role::statistics};
  check({{{logits, Role::statistics}, of_teacher},
         {{loss, Role::statistics}, {dlogits}, {metrics, Role::statistics}},
         [&](const auto& in, const auto& out) { run(in[0], in[1], out[0], out[1], out[2]); },
         1e-9,
         of_fp32});
  // The gradient takes the place of the logits.
  check({{of_teacher},
         {{loss, Role::statistics}, {dlogits, Role::statistics, logits.values}, {metrics, Role::statistics}},
         [&](const auto& in, const auto& out) { run(out[1], in[0], out[0], out[1], out[2]); },
         1e-9,
         of_fp32});
  // An evaluation has none.
  check({{{logits, Role::statistics}, of_teacher},
         {{loss, Role::statistics}, {metrics, Role::statistics}},
         [&](const auto& in, const auto& out) { run(in[0], in[1], out[0], View{}, out[1]); },
         1e-9,
         of_fp32});
}

}  // namespace

TEST_CASE("losses, metrics and gradients of distillation are LibTorch's", "[distillation]") {
  for (const Case& c : cases)
    for (const Divergence divergence : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::jensen_shannon}) {
      check_case(c, {.divergence = divergence, .temperature = 1, .teacher_weight = 0.5}, 1);
      check_case(c, {.divergence = divergence, .temperature = 3, .teacher_weight = 0.9}, 3);
      check_case(c, {.divergence = divergence, .temperature = 0.5, .teacher_weight = 1}, 1);
    }
}

TEST_CASE("at high temperatures, where both models say nearly the same, what is between them is LibTorch's",
          "[distillation]") {
  for (const Case& c : cases)
    for (const Divergence divergence : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::jensen_shannon})
      for (const double temperature : {30.0, 100.0, 1000.0})
        for (const double spread : {1.0, 5.0})
          check_case(c, {.divergence = divergence, .temperature = temperature, .teacher_weight = 1}, spread);
}

TEST_CASE("of one token alone there is nothing to learn", "[distillation]") {
  const std::vector<std::int32_t> targets{0};
  const Storage logits(filled(1, 1, 3.7), DType::fp32), teacher(filled(1, 1, -2.3), DType::fp32),
      loss(filled(1, 1, 7), DType::fp32), out(filled(1, 1, 7), DType::fp32), metrics(filled(4, 1, 7), DType::fp32);
  LossSum sum;
  cpu::distillation_loss({},
                         {{logits.view(), targets.data(), 1, loss.view(), out.view(), &unscaled, &sum},
                          teacher.view(),
                          metrics.view()},
                         {.divergence = Divergence::jensen_shannon, .temperature = 3, .teacher_weight = 0.9});
  CHECK(sum.loss == Approx(0).margin(1e-6));
  CHECK(out.values()[0] == Approx(0).margin(1e-6));
  CHECK(sum.metrics[3] == 1);
}

TEST_CASE("without a teacher's weight the loss is the cross-entropy", "[distillation]") {
  const Case c{4, 64, 61};
  const auto targets = targets_of(c);
  const Storage logits(random_matrix(4, 64, 1), DType::fp64), teacher(random_matrix(4, 64, 2), DType::fp64);
  const Storage loss(filled(1, 4, 7), DType::fp64), out(filled(4, 64, 7), DType::fp64),
      metrics(filled(4, 4, 7), DType::fp64), bare_loss(filled(1, 4, 7), DType::fp64),
      bare_out(filled(4, 64, 7), DType::fp64);
  const double scale = 8;
  cpu::distillation_loss(
      {}, {{logits.view(), targets.data(), 61, loss.view(), out.view(), &scale}, teacher.view(), metrics.view()},
      {.divergence = Divergence::reverse_kl, .temperature = 2, .teacher_weight = 0});
  cpu::cross_entropy({}, {logits.view(), targets.data(), 61, bare_loss.view(), bare_out.view(), &scale});
  CHECK(relative_error(loss.values(), bare_loss.values()) < 1e-14);
  CHECK(relative_error(out.values(), bare_out.values()) < 1e-14);
}

TEST_CASE("a student that is its teacher is not apart from it, however sure both are", "[distillation]") {
  for (const double spread : {1.0, 300.0})
    for (const Divergence divergence : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::jensen_shannon}) {
      CAPTURE(spread, static_cast<int>(divergence));
      const std::vector<std::int32_t> targets{1, 2, 3};
      const Storage logits(times(random_matrix(3, 64, 1), spread), DType::fp32), loss(filled(1, 3, 7), DType::fp32),
          out(filled(3, 64, 7), DType::fp32), metrics(filled(4, 3, 7), DType::fp32);
      LossSum sum;
      cpu::distillation_loss({},
                             {{logits.view(), targets.data(), 61, loss.view(), out.view(), &unscaled, &sum},
                              logits.view(),
                              metrics.view()},
                             {.divergence = divergence, .temperature = 2, .teacher_weight = 1});
      CHECK(sum.metrics[1] == Approx(0).margin(1e-6));
      CHECK(sum.metrics[3] == 3);
      for (const double gradient : out.values()) CHECK(gradient == Approx(0).margin(1e-6));
    }
}

TEST_CASE("models that are sure of different tokens are far apart, and finite", "[distillation]") {
  for (const Divergence divergence : {Divergence::forward_kl, Divergence::reverse_kl, Divergence::jensen_shannon}) {
    CAPTURE(static_cast<int>(divergence));
    Matrix student = filled(1, 64, -1000), teacher = filled(1, 64, -1000);
    student.values[3] = teacher.values[9] = 1000;
    const std::vector<std::int32_t> targets{9};
    const Storage logits(student, DType::fp32), of_teacher(teacher, DType::fp32), loss(filled(1, 1, 7), DType::fp32),
        out(filled(1, 64, 7), DType::fp32), metrics(filled(4, 1, 7), DType::fp32);
    LossSum sum;
    cpu::distillation_loss({},
                           {{logits.view(), targets.data(), 64, loss.view(), out.view(), &unscaled, &sum},
                            of_teacher.view(),
                            metrics.view()},
                           {.divergence = divergence, .temperature = 1, .teacher_weight = 1});
    CHECK(sum.metrics[1] == Approx(divergence == Divergence::jensen_shannon ? std::log(2) : 2000).epsilon(1e-5));
    CHECK(sum.metrics[3] == 0);
    for (const double gradient : out.values()) CHECK(std::isfinite(gradient));
  }
}

}  // namespace distillation_test
