#pragma once
#include <cmath>
#include <cstdint>
#include <monomorph/core/divergence.hpp>
#include "runtime/kernels/exponential.hpp"
#include "runtime/kernels/host_device.hpp"

/// How far a teacher's distribution p over the ids and a student's q are apart, id by id, for kernels of every device
/// (docs/why/teachers.md). All is local to the translation unit, as elements are.
namespace monomorph {
namespace {

/// Numbers below this have their exponentials near 1: what those are beyond it is to be had by a series alone.
template <class S> constexpr S near_zero = sizeof(S) == sizeof(float) ? S(0.5) : S(0.125);

/// c0 + c1 x + c2 x^2 + …
template <class S> [[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S polynomial(S, S last) { return last; }
template <class S, class... More>
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S polynomial(S x, S first, More... more) {
  return first + x * polynomial<S>(x, more...);
}

/// e^x - 1 - x, where |x| is below `near_zero`.
template <class S> [[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S above_its_tangent(S x) {
  return x * x *
         polynomial<S>(x, S(1. / 2), S(1. / 6), S(1. / 24), S(1. / 120), S(1. / 720), S(1. / 5040), S(1. / 40320),
                       S(1. / 362880), S(1. / 3628800), S(1. / 39916800));
}
/// t tanh t - log cosh t, where 2 |t| is below `near_zero`.
template <class S> [[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S above_the_mean(S t) {
  return t * t *
         polynomial<S>(t * t, S(1. / 2), S(-1. / 4), S(1. / 9), S(-17. / 360), S(31. / 1575), S(-691. / 85050),
                       S(10922. / 3274425));
}

/// The log-sum-exp of n numbers.
/// @param sum over how far below the greatest all are, of the exponentials; of what these are beyond 1 where all are
///   near the greatest, so that it has the error of numbers that are as small as the temperature makes them
MONOMORPH_HOST_DEVICE inline double log_sum_exp(double greatest, bool all_are_near, double sum, std::int64_t n) {
  if (!all_are_near) return greatest + std::log(sum);
  const auto count = static_cast<double>(n);
  return greatest + std::log(count) + std::log1p(sum / count);
}

/// Of one id at the temperature. What is between the logarithms does not come from them: at high temperatures they are
/// alike in all their digits.
template <class S> struct LogOdds {
  S log_p, log_q;
  S apart;  ///< log p - log q
  MONOMORPH_HOST_DEVICE S p() const { return exponential(log_p); }
  MONOMORPH_HOST_DEVICE S q() const { return exponential(log_q); }
  /// Where p and q are so close that their difference is to be had from `apart` alone, by a series.
  MONOMORPH_HOST_DEVICE bool is_close() const { return std::fabs(apart) < near_zero<S>; }
};

/// What turns a logit of each model into log-probabilities at the temperature.
template <class S> struct ModelsCompared {
  S inverse;  ///< of the temperature
  S student_log_sum, teacher_log_sum, sums_apart;

  MONOMORPH_HOST_DEVICE ModelsCompared(S inverse_temperature, double log_sum_of_student, double log_sum_of_teacher)
      : inverse(inverse_temperature),
        student_log_sum(static_cast<S>(log_sum_of_student)),
        teacher_log_sum(static_cast<S>(log_sum_of_teacher)),
        sums_apart(static_cast<S>(log_sum_of_teacher - log_sum_of_student)) {}
  [[gnu::always_inline]] MONOMORPH_HOST_DEVICE LogOdds<S> odds(S of_student, S of_teacher) const {
    return {of_teacher * inverse - teacher_log_sum, of_student * inverse - student_log_sum,
            (of_teacher - of_student) * inverse - sums_apart};
  }
};

/// log p - log m of the mean m of p and q, which are `apart`; finite wherever that is.
template <class S> [[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S above_mean(S apart) {
  const S distance = -std::fabs(apart);
  const S less_than_1 = -distance < near_zero<S> ? distance + above_its_tangent(distance) : exponential(distance) - 1;
  return (apart < 0 ? apart : S{0}) - std::log1p(less_than_1 / 2);
}

/// What an id adds to the divergence, and to q - p or its opposite, which add up to nothing over all ids. No part is
/// negative then, and an error that all of `apart` have in common counts by its square.
template <Divergence kind, class S>
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S divergence_term(LogOdds<S> id) {
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
template <Divergence kind, class S>
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S divergence_slope(LogOdds<S> id) {
  if constexpr (kind == Divergence::forward_kl)
    return 0;  // its gradient is simpler than that
  else if constexpr (kind == Divergence::reverse_kl)
    return -id.apart;
  else
    return above_mean(-id.apart) / 2;
}
/// q - p.
template <class S> [[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S more_than_teacher(LogOdds<S> id) {
  const S p = id.p(), x = -id.apart;
  return id.is_close() ? p * (x + above_its_tangent(x)) : id.q() - p;
}
/// The gradient of the divergence by an id's logit, times the temperature.
/// @param mean over all ids, weighed by q, of divergence_slope
template <Divergence kind, class S>
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline S divergence_gradient(LogOdds<S> id, S mean) {
  if constexpr (kind == Divergence::forward_kl)
    return more_than_teacher(id);
  else
    return id.q() * (divergence_slope<kind>(id) - mean);
}

/// By what the parts of a gradient are multiplied.
template <class S> struct GradientFactors {
  S of_data, of_divergence;
  MONOMORPH_HOST_DEVICE GradientFactors(double scale, double temperature, double teacher_weight)
      : of_data(static_cast<S>(scale * (1 - teacher_weight))),
        of_divergence(static_cast<S>(scale * teacher_weight * temperature)) {}
};

/// What is known of a token in the end.
template <class S> struct TokenCompared {
  S cross_entropy = 0, divergence = 0, teacher_loss = 0, agrees = 0;

  MONOMORPH_HOST_DEVICE S loss(double temperature, double teacher_weight) const {
    return static_cast<S>(1 - teacher_weight) * cross_entropy +
           static_cast<S>(teacher_weight * temperature * temperature) * divergence;
  }
  /// Calls f(number, value) for each of the objective's metrics.
  MONOMORPH_HOST_DEVICE void each_metric(auto f) const {
    f(0, cross_entropy), f(1, divergence), f(2, teacher_loss), f(3, agrees);
  }
};

}  // namespace
}  // namespace monomorph
