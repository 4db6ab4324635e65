#include <cmath>
#include <cstring>
#include <limits>
#include <monomorph/runtime/kernels/distillation.hpp>
#include "runtime/isa/reduce.hpp"
#include "runtime/isa/rows.hpp"
#include "runtime/isa/vector_math.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// The logits of one token by one model. At a temperature, whose inverse is given, the log-probability of an id is its
/// logit times that less the log-sum-exp.
template <class S> struct Row {
  const S* logits;
  std::int64_t vocabulary;
  S most;
  Row(const View& all_CV, std::int64_t row, std::int64_t vocabulary)
      : logits(all_CV.as<S>() + row * all_CV.stride),
        vocabulary(vocabulary),
        most(greatest(logits, vocabulary, -std::numeric_limits<S>::infinity())) {}

  S log_sum_exp(S inverse) const {
    Buffer<S> buffer;
    S total = 0;
    for (std::int64_t column = 0; column < vocabulary; column += chunk) {
      const std::int64_t n = least(chunk, vocabulary - column);
      const S *in = logits + column, greatest_logit = most;
      S* const out = buffer.elements;
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = exponential((in[i] - greatest_logit) * inverse);
      const S* terms = out;
      total += sum<S>(n, [terms](auto at) { return at(terms); });
    }
    return std::log(total) + most * inverse;
  }
  /// The first place of the greatest logit.
  std::int64_t likeliest() const {
    std::int64_t place = 0;
    while (place < vocabulary - 1 && logits[place] < most) ++place;
    return place;
  }
};

/// Log-probabilities of both models at the temperature.
template <class S> struct Compared {
  const Row<S>&student, &teacher;
  S inverse, student_log_sum, teacher_log_sum;
  Compared(const Row<S>& of_student, const Row<S>& of_teacher, S inverse)
      : student(of_student),
        teacher(of_teacher),
        inverse(inverse),
        student_log_sum(of_student.log_sum_exp(inverse)),
        teacher_log_sum(of_teacher.log_sum_exp(inverse)) {}

  /// Calls f(i, log p, log q) for the ids from `column` on, of the teacher's p and the student's q.
  [[gnu::always_inline]] void each(std::int64_t column, std::int64_t n, auto f) const {
    const S *const z = student.logits + column, *const u = teacher.logits + column;
    const S of_z = student_log_sum, of_u = teacher_log_sum, times = inverse;
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < n; ++i) f(i, u[i] * times - of_u, z[i] * times - of_z);
  }
};

/// log((p + q) / 2), finite wherever the logarithms are.
template <class S> [[gnu::always_inline]] inline S log_mean(S log_p, S log_q) {
  const S greater = log_p > log_q ? log_p : log_q, apart = log_p > log_q ? log_q - log_p : log_p - log_q;
  return greater + std::log1p(exponential(apart)) - static_cast<S>(0.693147180559945309417);
}

/// What an id adds to the divergence.
template <Divergence kind, class S> [[gnu::always_inline]] inline S term(S log_p, S log_q) {
  if constexpr (kind == Divergence::forward_kl) {
    return exponential(log_p) * (log_p - log_q);
  } else if constexpr (kind == Divergence::reverse_kl) {
    return exponential(log_q) * (log_q - log_p);
  } else {
    const S mean = log_mean(log_p, log_q);
    return (exponential(log_p) * (log_p - mean) + exponential(log_q) * (log_q - mean)) / 2;
  }
}
/// The derivative of the divergence by an id's q, up to what is the same for all ids.
template <Divergence kind, class S> [[gnu::always_inline]] inline S slope(S log_p, S log_q) {
  if constexpr (kind == Divergence::forward_kl)
    return 0;  // its gradient is simpler than that
  else if constexpr (kind == Divergence::reverse_kl)
    return log_q - log_p;
  else
    return (log_q - log_mean(log_p, log_q)) / 2;
}

/// The sum over all ids of f(log p, log q).
template <class S> S sum_of(const Compared<S>& compared, auto f) {
  Buffer<S> buffer;
  S total = 0;
  for (std::int64_t column = 0; column < compared.student.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, compared.student.vocabulary - column);
    S* const out = buffer.elements;
    compared.each(column, n, [out, f](std::int64_t i, S log_p, S log_q) { out[i] = f(log_p, log_q); });
    const S* terms = out;
    total += sum<S>(n, [terms](auto at) { return at(terms); });
  }
  return total;
}

/// By what the parts of a gradient are multiplied.
template <class S> struct GradientFactors { S of_data, of_divergence; };

/// The gradient by the student's logits takes their place, unless it has one of its own.
/// @param log_sum of the student's logits at temperature 1
template <Divergence kind, class S>
void write_gradient(const Compared<S>& compared, S log_sum, GradientFactors<S> factors, std::int64_t target,
                    const View& gradient, std::int64_t at) {
  const S mean = kind == Divergence::forward_kl ? S{0} : sum_of(compared, [](S log_p, S log_q) {
    return exponential(log_q) * slope<kind>(log_p, log_q);
  });
  Buffer<S> buffer;
  const auto [of_data, of_divergence] = factors;
  for (std::int64_t column = 0; column < compared.student.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, compared.student.vocabulary - column);
    const S* const in = compared.student.logits + column;
    S* const out = place(gradient, at + column, buffer.elements);
    compared.each(column, n, [=](std::int64_t i, S log_p, S log_q) {
      const S q = exponential(log_q);
      const S pull = kind == Divergence::forward_kl ? q - exponential(log_p) : q * (slope<kind>(log_p, log_q) - mean);
      out[i] = of_data * exponential(in[i] - log_sum) + of_divergence * pull;
    });
    if (target >= column && target < column + n) out[target - column] -= of_data;
    write(out, gradient, at + column, n);
  }
}

void zero_columns(const View& view, std::int64_t row, std::int64_t first) {
  const std::int64_t width = size_of(view.dtype);
  std::memset(view.data + (row * view.stride + first) * width, 0,
              static_cast<std::size_t>((view.shape.cols - first) * width));
}

/// The loss of one token, whose metrics it writes.
template <Divergence kind, class S>
S one_token(const TaughtLogits& logits, std::int64_t row, const DistillationTerms& terms) {
  const TokenLogits& of_student = logits.student;
  const std::int64_t target = of_student.targets_C[row];
  const Row<S> student(of_student.logits_CV, row, of_student.vocab_size),
      teacher(logits.teacher_CV, row, of_student.vocab_size);
  const S log_sum = student.log_sum_exp(1), cross_entropy = log_sum - student.logits[target],
          teacher_loss = teacher.log_sum_exp(1) - teacher.logits[target];
  const bool agrees = student.likeliest() == teacher.likeliest();
  const Compared<S> compared(student, teacher, static_cast<S>(1 / terms.temperature));
  const S divergence = sum_of(compared, [](S log_p, S log_q) { return term<kind>(log_p, log_q); });
  const double weight = terms.teacher_weight, T = terms.temperature;
  const S metrics[] = {cross_entropy, divergence, teacher_loss, agrees ? S{1} : S{0}};
  for (std::int64_t k = 0; k < 4; ++k) logits.metrics_4C.rows(k, 1).template as<S>()[row] = metrics[k];
  if (const View& gradient = of_student.dlogits_CV; gradient.present())
    write_gradient<kind>(compared, log_sum,
                         GradientFactors<S>{static_cast<S>(*of_student.scale * (1 - weight)),
                                            static_cast<S>(*of_student.scale * weight * T)},
                         target, gradient, row * gradient.stride);
  return static_cast<S>(1 - weight) * cross_entropy + static_cast<S>(weight * T * T) * divergence;
}

template <Divergence kind, class S> void each_token(const TaughtLogits& logits, const DistillationTerms& terms) {
  const TokenLogits& student = logits.student;
  parallel_for(student.logits_CV.shape.rows, [&](std::int64_t row) {
    const bool counted = student.targets_C[row] != ignored_target;
    S loss = 0;
    if (counted)
      loss = one_token<kind, S>(logits, row, terms);
    else
      for (std::int64_t k = 0; k < 4; ++k) logits.metrics_4C.rows(k, 1).template as<S>()[row] = 0;
    if (student.dlogits_CV.present()) zero_columns(student.dlogits_CV, row, counted ? student.vocab_size : 0);
    student.loss_C.as<S>()[row] = loss;
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
