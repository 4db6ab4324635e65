#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// Which dtype each part of a step uses. A policy may export `template <class R> using rules = RuleList<…>`. One with
/// `static constexpr int amax_history` has the products of blocks in fp8, as Fp8Mixed has. One with
/// `static constexpr DType logits_dtype` says in what logits lie while a loss is made of them; without, they are of the
/// dtype of statistics.
struct PrecisionAxis {
  MONOMORPH_REQUIRED_AXIS(precision, "monomorph::precision::Bf16Mixed")
  MONOMORPH_LOOK_UPS(Look, amax_history, scale_margin, logits_dtype);
  template <class P> struct Parts {
    static constexpr bool compute_dtype = MONOMORPH_HAS_CONSTANT(DType, compute_dtype);
    static constexpr bool gradient_dtype = MONOMORPH_HAS_CONSTANT(DType, gradient_dtype);
    static constexpr bool reduce_dtype = MONOMORPH_HAS_CONSTANT(DType, reduce_dtype);
    static constexpr bool master_dtype = MONOMORPH_HAS_CONSTANT(DType, master_dtype);
    static constexpr bool history = !Look::has_amax_history<P> || MONOMORPH_HAS_CONSTANT(int, amax_history);
    static constexpr bool margin =
        !Look::has_scale_margin<P> || (Look::has_amax_history<P> && MONOMORPH_HAS_CONSTANT(int, scale_margin));
    static constexpr bool logits = !Look::has_logits_dtype<P> || MONOMORPH_HAS_CONSTANT(DType, logits_dtype);
    static constexpr bool all_hold =
        compute_dtype && gradient_dtype && reduce_dtype && master_dtype && history && margin && logits;
    static consteval void explain() {
      static_assert(compute_dtype,
                    "[PREC-05] a precision policy must have `static constexpr DType compute_dtype`: of parameters and "
                    "activations in compute, and of what is gathered (docs/rules.md#prec-05)");
      static_assert(gradient_dtype,
                    "[PREC-05] a precision policy must have `static constexpr DType gradient_dtype`: of gradients as "
                    "they accumulate (docs/rules.md#prec-05)");
      static_assert(reduce_dtype,
                    "[PREC-05] a precision policy must have `static constexpr DType reduce_dtype`: of gradients on "
                    "their way between ranks (docs/rules.md#prec-05)");
      static_assert(master_dtype,
                    "[PREC-05] a precision policy must have `static constexpr DType master_dtype`: of the optimizer's "
                    "parameters and moments (docs/rules.md#prec-05)");
      static_assert(history,
                    "[PREC-05] amax_history of a precision policy, if it has one, must be `static constexpr int "
                    "amax_history`: products of blocks are in fp8, with scales that follow from as many updates "
                    "(docs/rules.md#prec-05)");
      static_assert(margin,
                    "[PREC-05] scale_margin of a precision policy, if it has one, must be `static constexpr int "
                    "scale_margin` beside amax_history (docs/rules.md#prec-05)");
      static_assert(logits,
                    "[PREC-05] logits_dtype of a precision policy, if it has one, must be `static constexpr DType "
                    "logits_dtype`: of logits while a loss is made of them (docs/rules.md#prec-05)");
    }
  };
};
template <class P> concept PrecisionPolicy = Fits<PrecisionAxis, P>;

/// Whether the products of blocks are in fp8, of how many updates their scales follow, and with what margin.
template <class P> inline constexpr bool scales_products = PrecisionAxis::Look::has_amax_history<P>;
template <class P> constexpr int amax_history() {
  if constexpr (requires { int{P::amax_history}; }) return P::amax_history;
  return 0;
}
template <class P> constexpr int scale_margin() {
  if constexpr (requires { int{P::scale_margin}; }) return P::scale_margin;
  return 0;
}

/// The dtype of logits while a loss is made of them. Losses, and what is summed up on the way to them, are of that of
/// statistics.
template <class P> constexpr DType logits_dtype() {
  if constexpr (requires { DType{P::logits_dtype}; }) return P::logits_dtype;
  return statistics_dtype(P::compute_dtype);
}
/// Whether logits are rounded to less than the dtype of statistics, and their gradients come in their place.
template <class P> inline constexpr bool rounds_logits = logits_dtype<P>() != statistics_dtype(P::compute_dtype);

/// Whether the optimiser updates master parameters of its own, of which compute reads a rounded copy.
template <PrecisionPolicy P> inline constexpr bool keeps_master_copy = P::master_dtype != P::compute_dtype;

}  // namespace monomorph
