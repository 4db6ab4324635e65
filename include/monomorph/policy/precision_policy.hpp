#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// Which dtype each part of a step uses. A policy may export `template <class R> using rules = RuleList<…>`.
struct PrecisionAxis {
  MONOMORPH_REQUIRED_AXIS(precision, "monomorph::precision::Bf16Mixed")
  template <class P> struct Parts {
    static constexpr bool compute_dtype = MONOMORPH_HAS_CONSTANT(DType, compute_dtype);
    static constexpr bool gradient_dtype = MONOMORPH_HAS_CONSTANT(DType, gradient_dtype);
    static constexpr bool reduce_dtype = MONOMORPH_HAS_CONSTANT(DType, reduce_dtype);
    static constexpr bool master_dtype = MONOMORPH_HAS_CONSTANT(DType, master_dtype);
    static constexpr bool all_hold = compute_dtype && gradient_dtype && reduce_dtype && master_dtype;
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
    }
  };
};
template <class P> concept PrecisionPolicy = Fits<PrecisionAxis, P>;

/// Whether the optimiser updates master parameters of its own, of which compute reads a rounded copy.
template <PrecisionPolicy P> inline constexpr bool keeps_master_copy = P::master_dtype != P::compute_dtype;

}  // namespace monomorph
