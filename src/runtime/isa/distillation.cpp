#include <cmath>
#include <cstring>
#include <limits>
#include <monomorph/runtime/kernels/distillation.hpp>
#include "runtime/isa/reduce.hpp"
#include "runtime/isa/rows.hpp"
#include "runtime/isa/vector_math.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// Numbers below this have their exponentials near 1: what those are beyond it is to be had by a series alone.
template <class S> inline constexpr S close = sizeof(S) == sizeof(float) ? S(0.5) : S(0.125);

/// c0 + c1 x + c2 x^2 + …
template <class S> [[gnu::always_inline]] inline S polynomial(S, S last) { return last; }
template <class S, class... More> [[gnu::always_inline]] inline S polynomial(S x, S first, More... more) {
  return first + x * polynomial<S>(x, more...);
}

/// e^x - 1 - x, where |x| is below `close`.
template <class S> [[gnu::always_inline]] inline S above_its_tangent(S x) {
  return x * x *
         polynomial<S>(x, S(1. / 2), S(1. / 6), S(1. / 24), S(1. / 120), S(1. / 720), S(1. / 5040), S(1. / 40320),
                       S(1. / 362880), S(1. / 3628800), S(1. / 39916800));
}
/// t tanh t - log cosh t, where 2 |t| is below `close`.
template <class S> [[gnu::always_inline]] inline S above_the_mean(S t) {
  return t * t *
         polynomial<S>(t * t, S(1. / 2), S(-1. / 4), S(1. / 9), S(-17. / 360), S(31. / 1575), S(-691. / 85050),
                       S(10922. / 3274425));
}

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

  /// With the error of numbers that are as small as the temperature makes them, where it makes all of them small.
  double log_sum_exp(S inverse) const {
    const double greatest_power = static_cast<double>(most) * static_cast<double>(inverse);
    if (!is_flat(inverse)) return greatest_power + std::log(sum_of_powers(inverse, [](S x) { return exponential(x); }));
    const auto n = static_cast<double>(vocabulary);
    const double beyond_1 = sum_of_powers(inverse, [](S x) { return x + above_its_tangent(x); });
    return greatest_power + std::log(n) + std::log1p(beyond_1 / n);
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
  bool is_flat(S inverse) const {
    Buffer<S> buffer;
    for (std::int64_t column = 0; column < vocabulary; column += chunk) {
      const std::int64_t n = least(chunk, vocabulary - column);
      const S *in = logits + column, greatest_logit = most;
      S* const out = buffer.elements;
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = greatest_logit - in[i];
      if (!(greatest(out, n, S{0}) * inverse < close<S>)) return false;
    }
    return true;
  }
};

/// Of one id at the temperature. What is between the logarithms does not come from them: at high temperatures they are
/// alike in all their digits.
template <class S> struct LogOdds {
  S log_p, log_q;
  S apart;  ///< log p - log q
  S p() const { return exponential(log_p); }
  S q() const { return exponential(log_q); }
  /// Where p and q are so close that their difference is to be had from `apart` alone, by a series.
  bool is_close() const { return std::fabs(apart) < close<S>; }
};

/// Both models at the temperature.
template <class S> struct Compared {
  const Row<S>&student, &teacher;
  S inverse, student_log_sum, teacher_log_sum, sums_apart;
  Compared(const Row<S>& of_student, const Row<S>& of_teacher, S inverse)
      : student(of_student), teacher(of_teacher), inverse(inverse) {
    const double of_z = student.log_sum_exp(inverse), of_u = teacher.log_sum_exp(inverse);
    student_log_sum = static_cast<S>(of_z);
    teacher_log_sum = static_cast<S>(of_u);
    sums_apart = static_cast<S>(of_u - of_z);
  }

  /// Calls f(i, LogOdds) for the ids from `column` on, of the teacher's p and the student's q.
  [[gnu::always_inline]] void each(std::int64_t column, std::int64_t n, auto f) const {
    const S *const z = student.logits + column, *const u = teacher.logits + column;
    const S of_z = student_log_sum, of_u = teacher_log_sum, between = sums_apart, times = inverse;
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < n; ++i)
      f(i, LogOdds<S>{u[i] * times - of_u, z[i] * times - of_z, (u[i] - z[i]) * times - between});
  }
};

/// log p - log m of the mean m of p and q, which are `apart`; finite wherever that is.
template <class S> [[gnu::always_inline]] inline S above_mean(S apart) {
  const S distance = -std::fabs(apart);
  const S less_than_1 = -distance < close<S> ? distance + above_its_tangent(distance) : exponential(distance) - 1;
  return (apart < 0 ? apart : S{0}) - std::log1p(less_than_1 / 2);
}

/// What an id adds to the divergence, and to q - p or its opposite, which add up to nothing over all ids. No part is
/// negative then, and an error that all of `apart` have in common counts by its square (docs/why/teachers.md).
template <Divergence kind, class S> [[gnu::always_inline]] inline S term(LogOdds<S> id) {
  const S p = id.p(), q = id.q();
  if constexpr (kind == Divergence::forward_kl)
    return id.is_close() ? p * above_its_tangent(-id.apart) : p * id.apart + (q - p);
  else if constexpr (kind == Divergence::reverse_kl)
    return id.is_close() ? q * above_its_tangent(id.apart) : (p - q) - q * id.apart;
  else
    return (id.is_close() ? (p + q) * above_the_mean(id.apart / 2)
                          : p * above_mean(id.apart) + q * above_mean(-id.apart)) /
           2;
}
/// The derivative of the divergence by an id's q, up to what is the same for all ids.
template <Divergence kind, class S> [[gnu::always_inline]] inline S slope(LogOdds<S> id) {
  if constexpr (kind == Divergence::forward_kl)
    return 0;  // its gradient is simpler than that
  else if constexpr (kind == Divergence::reverse_kl)
    return -id.apart;
  else
    return above_mean(-id.apart) / 2;
}
/// q - p.
template <class S> [[gnu::always_inline]] inline S more_than_teacher(LogOdds<S> id) {
  const S p = id.p(), x = -id.apart;
  return id.is_close() ? p * (x + above_its_tangent(x)) : id.q() - p;
}

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

/// By what the parts of a gradient are multiplied.
template <class S> struct GradientFactors { S of_data, of_divergence; };

/// The gradient by the student's logits takes their place, unless it has one of its own.
/// @param log_sum of the student's logits at temperature 1
template <Divergence kind, class S>
void write_gradient(const Compared<S>& compared, S log_sum, GradientFactors<S> factors, std::int64_t target,
                    const View& gradient, std::int64_t at) {
  const S mean =
      kind == Divergence::forward_kl ? S{0} : sum_of(compared, [](LogOdds<S> id) { return id.q() * slope<kind>(id); });
  Buffer<S> buffer;
  const S of_data = factors.of_data, of_divergence = factors.of_divergence;  // clang 14 captures no bindings
  for (std::int64_t column = 0; column < compared.student.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, compared.student.vocabulary - column);
    const S* const in = compared.student.logits + column;
    S* const out = place(gradient, at + column, buffer.elements);
    compared.each(column, n, [=](std::int64_t i, LogOdds<S> id) {
      const S pull = kind == Divergence::forward_kl ? more_than_teacher(id) : id.q() * (slope<kind>(id) - mean);
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
  const double log_sum = student.log_sum_exp(1);
  const S cross_entropy = static_cast<S>(log_sum - static_cast<double>(student.logits[target])),
          teacher_loss = static_cast<S>(teacher.log_sum_exp(1) - static_cast<double>(teacher.logits[target]));
  const bool agrees = student.likeliest() == teacher.likeliest();
  const Compared<S> compared(student, teacher, static_cast<S>(1 / terms.temperature));
  const S divergence = sum_of(compared, [](LogOdds<S> id) { return term<kind>(id); });
  const double weight = terms.teacher_weight, T = terms.temperature;
  const S metrics[] = {cross_entropy, divergence, teacher_loss, agrees ? S{1} : S{0}};
  for (std::int64_t k = 0; k < 4; ++k) logits.metrics_4C.rows(k, 1).template as<S>()[row] = metrics[k];
  if (const View& gradient = of_student.dlogits_CV; gradient.present())
    write_gradient<kind>(compared, static_cast<S>(log_sum),
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
