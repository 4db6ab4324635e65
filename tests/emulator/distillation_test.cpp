#include "emulator/gpu_case.hpp"

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/distillation.hpp>

#include <cmath>
#include <limits>

namespace monomorph::emulator {
namespace {

constexpr Divergence all_divergences[] = {Divergence::forward_kl, Divergence::reverse_kl, Divergence::jensen_shannon};

struct Given {
  Matrix student, teacher;
  std::vector<std::int32_t> targets;
  std::int64_t vocab_size;
  DistillationTerms terms = {};
  double scale = 8;
};

/// Every third target is ignored.
Given random_case(std::int64_t rows, std::int64_t columns, std::int64_t vocab_size, double spread,
                  const DistillationTerms& terms) {
  Given given{random_matrix(rows, columns, 1), random_matrix(rows, columns, 2), {}, vocab_size, terms};
  for (Matrix* const logits : {&given.student, &given.teacher})
    for (double& logit : logits->values) logit *= spread;
  for (std::int64_t row = 0; row < rows; ++row)
    given.targets.push_back(row % 3 == 2 ? ignored_target : static_cast<std::int32_t>((row * 37 + 11) % vocab_size));
  return given;
}

struct Results {
  Storage loss, dlogits, metrics;
  LossSum sum;
  bool operator==(const Results& other) const {
    return loss.bytes() == other.loss.bytes() && dlogits.bytes() == other.dlogits.bytes() &&
           metrics.bytes() == other.metrics.bytes() && sum.loss == other.sum.loss && sum.tokens == other.sum.tokens &&
           sum.metrics == other.sum.metrics;
  }
};

enum class Wants { loss, gradient, gradient_in_place };

template <class Queue>
Results run(Queue queue, const Given& given, DType dtype, DType gradient, Wants wants, std::int64_t gap = 0) {
  const auto& [rows, columns, values] = given.student;
  const Storage student(given.student, dtype, gap), teacher(given.teacher, dtype, gap);
  Results results{Storage(filled(1, rows, 7), dtype),
                  Storage(filled(rows, columns, 7), gradient, gap),
                  Storage(filled(4, rows, 7), dtype, gap),
                  {.loss = 3, .tokens = 5, .metrics = {1, 2, 3, 4}}};
  View dlogits;
  if (wants == Wants::gradient) dlogits = writable(results.dlogits);
  if (wants == Wants::gradient_in_place) dlogits = writable(student);
  distillation_loss(queue,
                    {{.logits_CV = writable(student),
                      .targets_C = given.targets.data(),
                      .vocab_size = given.vocab_size,
                      .loss_C = writable(results.loss),
                      .dlogits_CV = dlogits,
                      .scale = &given.scale,
                      .sum = &results.sum},
                     writable(teacher),
                     writable(results.metrics)},
                    given.terms);
  if (wants == Wants::gradient_in_place) results.dlogits = student;
  return results;
}

double rounding_of(DType dtype) { return dtype == DType::bf16 ? 0x1p-8 : dtype == DType::fp16 ? 0x1p-11 : 0; }

/// To the CPU's fp64, which is compared with LibTorch's. What is alike in both models cancels, and what is left of
/// numbers of fp32 is less exact than they are.
void check_close(const Results& actual, const Results& exact, DType dtype, DType gradient) {
  const double tolerance = dtype == DType::fp64 ? 1e-10 : 5e-5;
  CHECK(relative_error(values_of(actual.loss), values_of(exact.loss)) < tolerance);
  CHECK(relative_error(values_of(actual.metrics), values_of(exact.metrics)) < tolerance);
  CHECK(relative_error(values_of(actual.dlogits), values_of(exact.dlogits)) < tolerance + rounding_of(gradient));
  CHECK(actual.sum.tokens == exact.sum.tokens);
  CHECK(actual.sum.loss == Approx(exact.sum.loss).epsilon(tolerance));
  for (std::size_t k = 0; k < 4; ++k) CHECK(actual.sum.metrics[k] == Approx(exact.sum.metrics[k]).epsilon(tolerance));
}

void check(const Given& given) {
  for (const DType dtype : {DType::fp32, DType::fp64})
    for (const DType gradient : {DType::fp32, DType::bf16, DType::fp16, DType::fp64})
      for (const std::int64_t gap : {0, 8, 3}) {
        if (gradient != dtype && (dtype == DType::fp64 || gradient == DType::fp64)) continue;
        CAPTURE(given.student.rows, given.vocab_size, static_cast<int>(given.terms.divergence), given.terms.temperature,
                name_of(dtype), name_of(gradient), gap);
        // The logits as they are rounded, so that only the arithmetic differs.
        Given rounded = given;
        rounded.student.values = Storage(given.student, dtype).values();
        rounded.teacher.values = Storage(given.teacher, dtype).values();
        const Results exact = run(cpu_queue, rounded, DType::fp64, DType::fp64, Wants::gradient);
        const Results expected = run(gpu_queue, given, dtype, gradient, Wants::gradient, gap);
        CHECK((expected.dlogits.gap_untouched() && expected.metrics.gap_untouched()));
        check_close(expected, exact, dtype, gradient);
        for_each_schedule([&] {
          CHECK(run(gpu_queue, given, dtype, gradient, Wants::gradient, gap) == expected);
          Results only_loss = run(gpu_queue, given, dtype, gradient, Wants::loss, gap);
          only_loss.dlogits = expected.dlogits;
          CHECK(only_loss == expected);
          if (dtype == gradient)
            CHECK(run(gpu_queue, given, dtype, gradient, Wants::gradient_in_place, gap) == expected);
        });
      }
}

}  // namespace

TEST_CASE("what compares a student with its teacher gives on a GPU what the CPU does in fp64, in every schedule",
          "[distillation]") {
  for (const Divergence divergence : all_divergences) {
    check(random_case(1, 2, 2, 1, {.divergence = divergence, .temperature = 1, .teacher_weight = 0.5}));
    check(random_case(4, 67, 65, 3, {.divergence = divergence, .temperature = 3, .teacher_weight = 0.9}));
    check(random_case(2, 1056, 1001, 1, {.divergence = divergence, .temperature = 0.5, .teacher_weight = 1}));
  }
}

TEST_CASE("on a GPU, too, what is between models that say nearly the same is exact at high temperatures",
          "[distillation]") {
  for (const Divergence divergence : all_divergences)
    for (const double temperature : {30.0, 1000.0})
      check(random_case(3, 64, 61, 5, {.divergence = divergence, .temperature = temperature, .teacher_weight = 1}));
}

TEST_CASE("a GPU tells of models that are sure of different tokens, and of a student that is its teacher",
          "[distillation]") {
  for (const Divergence divergence : all_divergences) {
    CAPTURE(static_cast<int>(divergence));
    Given given{filled(1, 64, -1000), filled(1, 64, -1000), {9}, 64, {.divergence = divergence, .teacher_weight = 1}};
    given.student.values[3] = given.teacher.values[9] = 1000;
    const Results apart = run(gpu_queue, given, DType::fp32, DType::fp32, Wants::gradient);
    const double far = divergence == Divergence::jensen_shannon ? std::log(2) : 2000;
    CHECK(values_of(apart.metrics) == Values{2000, rounded(far, DType::fp32), 0, 0});
    for (const double gradient : values_of(apart.dlogits)) CHECK(std::isfinite(gradient));

    given.student = given.teacher = random_matrix(1, 64, 1);
    const Results alike = run(gpu_queue, given, DType::fp32, DType::fp32, Wants::gradient);
    CHECK(values_of(alike.metrics)[1] == 0);
    CHECK(values_of(alike.metrics)[3] == 1);
    for (const double gradient : values_of(alike.dlogits)) CHECK(gradient == 0);
  }
}

TEST_CASE("logits that are not finite come through a GPU's divergence", "[distillation]") {
  for (const bool of_teacher : {false, true})
    for (const double special : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      CAPTURE(of_teacher, special);
      Given given = random_case(1, 200, 200, 1, {.divergence = Divergence::forward_kl});
      (of_teacher ? given.teacher : given.student).values[150] = special;
      CHECK(std::isnan(run(cpu_queue, given, DType::fp32, DType::fp32, Wants::loss).sum.loss));
      CHECK(std::isnan(run(gpu_queue, given, DType::fp32, DType::fp32, Wants::loss).sum.loss));
    }
}

TEST_CASE("without tokens there is nothing to compare on a GPU, and without a sum nothing is added up",
          "[distillation]") {
  CHECK(run(gpu_queue, {shape_only(0, 16), shape_only(0, 16), {}, 16}, DType::fp32, DType::fp32, Wants::loss)
            .sum.tokens == 5);
  const Given given = random_case(2, 16, 16, 1, {});
  const Results expected = run(gpu_queue, given, DType::fp32, DType::fp32, Wants::loss);
  const Storage student(given.student, DType::fp32), teacher(given.teacher, DType::fp32),
      loss(filled(1, 2, 7), DType::fp32), metrics(filled(4, 2, 7), DType::fp32);
  cuda::distillation_loss(
      {}, {{writable(student), given.targets.data(), 16, writable(loss), {}}, writable(teacher), writable(metrics)},
      {});
  CHECK(loss.bytes() == expected.loss.bytes());
  CHECK(metrics.bytes() == expected.metrics.bytes());
}

TEST_CASE("a GPU's divergence gives gradients in the logits' dtype, or in 16 bits by fp32, and no others",
          "[distillation]") {
  const Given given = random_case(2, 16, 16, 1, {});
  for (const auto& [of_logits, of_gradient] : {std::pair{DType::fp32, DType::fp64},
                                               {DType::fp64, DType::fp32},
                                               {DType::fp64, DType::bf16},
                                               {DType::bf16, DType::bf16}}) {
    CAPTURE(name_of(of_logits), name_of(of_gradient));
    CHECK_THROWS_AS(run(gpu_queue, given, of_logits, of_gradient, Wants::gradient), std::logic_error);
  }
}

}  // namespace monomorph::emulator
