#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/precision_policy.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph::rule {

template <DType gradient_dtype, DType compute_dtype> struct GradientsAsWideAsCompute {
  static constexpr bool holds = size_of(gradient_dtype) >= size_of(compute_dtype);
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-01] gradient_dtype must be at least as wide as compute_dtype, or accumulation loses what "
                  "backward computed; change the precision policy's gradient_dtype (docs/rules.md#prec-01)");
  }
};
template <DType master_dtype, DType compute_dtype> struct MasterAsWideAsCompute {
  static constexpr bool holds = size_of(master_dtype) >= size_of(compute_dtype);
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-02] master_dtype must be at least as wide as compute_dtype, or compute is finer than what "
                  "the optimizer keeps; change the precision policy's master_dtype (docs/rules.md#prec-02)");
  }
};
template <DType compute, DType gradient, DType master> struct PrecisionIsImplemented {
  static constexpr bool is_uniform = compute == gradient && gradient == master && size_of(compute) > 2;
  static constexpr bool is_bf16 =
      compute == DType::bf16 && gradient == DType::fp32 && (master == DType::fp32 || master == DType::bf16);
  static constexpr bool is_fp16 = compute == DType::fp16 && gradient == DType::fp32 && master == DType::fp32;
  static constexpr bool too_narrow = size_of(gradient) < size_of(compute) || size_of(master) < size_of(compute);
  static constexpr bool holds =
      is_uniform || is_bf16 || is_fp16 || too_narrow;  // PREC-01 or PREC-02 reports what is too narrow
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-03] compute, gradient and master dtypes must be those of Fp32, Bf16Mixed, Bf16Pure, Fp16Mixed "
                  "or Fp64 in "
                  "this release; change precision (docs/rules.md#prec-03)");
  }
};

template <DType reduce_dtype, DType gradient_dtype, DType compute_dtype> struct ReducesGradientsAsTheyAre {
  static constexpr bool holds = reduce_dtype == gradient_dtype || reduce_dtype == compute_dtype;
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-04] reduce_dtype must be gradient_dtype, or compute_dtype to send fewer bytes; change the "
                  "precision policy's reduce_dtype (docs/rules.md#prec-04)");
  }
};

/// The exponent is that of epsilon's first digit: -6 of 1e-6 and 9.9e-6.
template <int epsilon_exponent, DType statistics_dtype> struct EpsilonIsRepresentable {
  static constexpr bool holds = statistics_dtype == DType::fp64 || epsilon_exponent >= -37;
  static consteval void explain() {
    static_assert(
        holds,
        "[PREC-06] norm.epsilon must be at least 1e-37 unless precision computes in fp64: as fp32 it would be "
        "0; change NormSpec::epsilon (docs/rules.md#prec-06)");
  }
};
/// `replicas` is 0 where no budget says how many there are.
template <std::int64_t replicas, DType reduce_dtype, DType gradient_dtype> struct ReductionIsRead {
  static constexpr bool holds = replicas != 1 || reduce_dtype == gradient_dtype;
  static consteval void explain() {
    static_assert(
        holds,
        "[PREC-07] reduce_dtype must be gradient_dtype where budget has one data-parallel rank, as nothing is "
        "reduced; change precision or Budget::ranks (docs/rules.md#prec-07)");
  }
};
template <DType logits_dtype, DType compute_dtype> struct LogitsAreOfComputeOrStatistics {
  static constexpr bool holds = logits_dtype == compute_dtype || logits_dtype == statistics_dtype(compute_dtype);
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-13] logits_dtype must be compute_dtype, or fp32 where that has 16 bits: the head's product "
                  "gives no other; change the precision policy's logits_dtype, or leave it out "
                  "(docs/rules.md#prec-13)");
  }
};
/// Of logits that PREC-13 allows.
template <bool rounds_logits, bool over_embeddings, bool over_sequences, bool has_teacher>
struct RoundedLogitsAreOfTokens {
  static constexpr bool holds = !rounds_logits || !(over_embeddings || over_sequences || has_teacher);
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-14] logits must be of the dtype of statistics unless the objective is over single tokens, "
                  "without a teacher; take precision out of NarrowLogits, or change objective "
                  "(docs/rules.md#prec-14)");
  }
};
constexpr int decimal_exponent(double x) {
  int exponent = 0;
  for (; 0 < x && x < 1 && exponent > -400; x *= 10) --exponent;
  return exponent;
}

template <class R> consteval auto precision_rules() {
  using P = typename R::precision;
  return RuleList<
      GradientsAsWideAsCompute<P::gradient_dtype, P::compute_dtype>,
      MasterAsWideAsCompute<P::master_dtype, P::compute_dtype>,
      PrecisionIsImplemented<P::compute_dtype, P::gradient_dtype, P::master_dtype>,
      ReducesGradientsAsTheyAre<P::reduce_dtype, P::gradient_dtype, P::compute_dtype>,
      EpsilonIsRepresentable<decimal_exponent(trunk_of<R>.norm.epsilon), statistics_dtype(P::compute_dtype)>,
      ReductionIsRead<budgeted_replicas<R>, P::reduce_dtype, P::gradient_dtype>,
      LogitsAreOfComputeOrStatistics<logits_dtype<P>(), P::compute_dtype>,
      RoundedLogitsAreOfTokens<rounds_logits<P> && logits_dtype<P>() == P::compute_dtype,
                               is_over_embeddings<objective_of<R>>, is_over_sequences<objective_of<R>>,
                               has_teacher<objective_of<R>>>>{};
}

}  // namespace monomorph::rule
