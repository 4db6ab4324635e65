#include <cmath>
#include <cstring>
#include <limits>
#include <monomorph/runtime/kernels/distillation.hpp>
#include "runtime/isa/reduce.hpp"
#include "runtime/isa/rows.hpp"
#include "runtime/isa/vector_math.hpp"
#include "runtime/kernels/divergence_terms.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// The logits of one token by one model. At a temperature, whose inverse is given, the log-probability of an id is its
/// logit times that less the log-sum-exp.
template <class S> struct Row {
  const S* logits;
  std::int64_t vocabulary;
  S most;
  Row(const View& all_CV, std::int64_t row, std::int64_t columns)
      : logits(all_CV.as<S>() + row * all_CV.stride),
        vocabulary(columns),
        most(greatest(logits, vocabulary, -std::numeric_limits<S>::infinity())) {}

  /// Where all are near the greatest, with the error of numbers that are as small as the temperature makes them.
  double log_sum_of_powers(S inverse) const {
    const double greatest_power = static_cast<double>(most) * static_cast<double>(inverse);
    const bool is_flat = all_are_near(inverse);
    const double sum = is_flat ? sum_of_powers(inverse, [](S x) { return x + above_its_tangent(x); })
                               : sum_of_powers(inverse, [](S x) { return exponential(x); });
    return log_sum_exp(greatest_power, is_flat, sum, vocabulary);
  }
  /// The first place of the greatest logit.
  std::int64_t likeliest() const {
    std::int64_t place = 0;
    while (place < vocabulary - 1 && logits[place] < most) ++place;
    return place;
  }

 private:
  /// The sum of f over how far below the greatest all are.
  double sum_of_powers(S inverse, auto f) const {
    Buffer<S> buffer;
    double total = 0;
    for (std::int64_t column = 0; column < vocabulary; column += chunk) {
      const std::int64_t n = least(chunk, vocabulary - column);
      const S *in = logits + column, greatest_logit = most;
      S* const out = buffer.elements;
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = f((in[i] - greatest_logit) * inverse);
      const S* terms = out;
      total += static_cast<double>(sum<S>(n, [terms](auto at) { return at(terms); }));
    }
    return total;
  }
  /// Whether all are close to the greatest, which the first chunk denies at usual temperatures.
  bool all_are_near(S inverse) const {
    Buffer<S> buffer;
    for (std::int64_t column = 0; column < vocabulary; column += chunk) {
      const std::int64_t n = least(chunk, vocabulary - column);
      const S *in = logits + column, greatest_logit = most;
      S* const out = buffer.elements;
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = greatest_logit - in[i];
      if (!(greatest(out, n, S{0}) * inverse < near_zero<S>)) return false;
    }
    return true;
  }
};

/// Both models at the temperature.
template <class S> struct Compared {
  const Row<S>&student, &teacher;
  ModelsCompared<S> models;
  Compared(const Row<S>& of_student, const Row<S>& of_teacher, S inverse)
      : student(of_student),
        teacher(of_teacher),
        models(inverse, of_student.log_sum_of_powers(inverse), of_teacher.log_sum_of_powers(inverse)) {}

  /// Calls f(i, LogOdds) for the ids from `column` on.
  [[gnu::always_inline]] void each(std::int64_t column, std::int64_t n, auto f) const {
    const S *const z = student.logits + column, *const u = teacher.logits + column;
    const ModelsCompared<S> at_temperature = models;
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < n; ++i) f(i, at_temperature.odds(z[i], u[i]));
  }
};

/// The sum over all ids of f(LogOdds).
template <class S> S sum_of(const Compared<S>& compared, auto f) {
  Buffer<S> buffer;
  S total = 0;
  for (std::int64_t column = 0; column < compared.student.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, compared.student.vocabulary - column);
    S* const out = buffer.elements;
    compared.each(column, n, [out, f](std::int64_t i, LogOdds<S> id) { out[i] = f(id); });
    const S* terms = out;
    total += sum<S>(n, [terms](auto at) { return at(terms); });
  }
  return total;
}

/// The gradient by the student's logits takes their place, unless it has one of its own.
/// @param log_sum of the student's logits at temperature 1
template <Divergence kind, class S>
void write_gradient(const Compared<S>& compared, S log_sum, GradientFactors<S> factors, std::int64_t target,
                    const View& gradient, std::int64_t at) {
  const S mean = kind == Divergence::forward_kl
                     ? S{0}
                     : sum_of(compared, [](LogOdds<S> id) { return id.q() * divergence_slope<kind>(id); });
  Buffer<S> buffer;
  for (std::int64_t column = 0; column < compared.student.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, compared.student.vocabulary - column);
    const S* const in = compared.student.logits + column;
    S* const out = place(gradient, at + column, buffer.elements);
    compared.each(column, n, [=](std::int64_t i, LogOdds<S> id) {
      out[i] =
          factors.of_data * exponential(in[i] - log_sum) + factors.of_divergence * divergence_gradient<kind>(id, mean);
    });
    if (target >= column && target < column + n) out[target - column] -= factors.of_data;
    write(out, gradient, at + column, n);
  }
}

void zero_columns(const View& view, std::int64_t row, std::int64_t first) {
  const std::int64_t width = size_of(view.dtype);
  std::memset(view.data + (row * view.stride + first) * width, 0,
              static_cast<std::size_t>((view.shape.cols - first) * width));
}

/// What is known of one token, whose gradient it writes.
template <Divergence kind, class S>
TokenCompared<S> one_token(const TaughtLogits& logits, std::int64_t row, const DistillationTerms& terms) {
  const TokenLogits& of_student = logits.student;
  const std::int64_t target = of_student.targets_C[row];
  const Row<S> student(of_student.logits_CV, row, of_student.vocab_size),
      teacher(logits.teacher_CV, row, of_student.vocab_size);
  const double log_sum = student.log_sum_of_powers(1);
  TokenCompared<S> token;
  token.cross_entropy = static_cast<S>(log_sum - static_cast<double>(student.logits[target]));
  token.teacher_loss = static_cast<S>(teacher.log_sum_of_powers(1) - static_cast<double>(teacher.logits[target]));
  token.agrees = student.likeliest() == teacher.likeliest() ? 1 : 0;
  const Compared<S> compared(student, teacher, static_cast<S>(1 / terms.temperature));
  token.divergence = sum_of(compared, [](LogOdds<S> id) { return divergence_term<kind>(id); });
  if (const View& gradient = of_student.dlogits_CV; gradient.present())
    write_gradient<kind>(compared, static_cast<S>(log_sum),
                         GradientFactors<S>(*of_student.scale, terms.temperature, terms.teacher_weight), target,
                         gradient, row * gradient.stride);
  return token;
}

template <Divergence kind, class S> void each_token(const TaughtLogits& logits, const DistillationTerms& terms) {
  const TokenLogits& student = logits.student;
  parallel_for(student.logits_CV.shape.rows, [&](std::int64_t row) {
    const bool counted = student.targets_C[row] != ignored_target;
    const TokenCompared<S> token = counted ? one_token<kind, S>(logits, row, terms) : TokenCompared<S>{};
    if (student.dlogits_CV.present()) zero_columns(student.dlogits_CV, row, counted ? student.vocab_size : 0);
    student.loss_C.as<S>()[row] = token.loss(terms.temperature, terms.teacher_weight);
    token.each_metric([&](int k, S value) { logits.metrics_4C.rows(k, 1).template as<S>()[row] = value; });
  });
}

}  // namespace

void distillation_losses(const TaughtLogits& logits, const DistillationTerms& terms) {
  in_compute_type(logits.student.logits_CV.dtype, [&]<class S>() {
    switch (terms.divergence) {
      case Divergence::forward_kl:
        return each_token<Divergence::forward_kl, S>(logits, terms);
      case Divergence::reverse_kl:
        return each_token<Divergence::reverse_kl, S>(logits, terms);
      case Divergence::jensen_shannon:
        return each_token<Divergence::jensen_shannon, S>(logits, terms);
    }
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
