// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType compute_dtype`
// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType gradient_dtype`
// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType reduce_dtype`
// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType master_dtype`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  static constexpr int compute_dtype = 0;
  monomorph::DType gradient_dtype = monomorph::DType::fp32;
  using reduce_dtype = monomorph::DType;
#else
  static constexpr auto compute_dtype = monomorph::DType::fp32, gradient_dtype = compute_dtype,
                        reduce_dtype = compute_dtype, master_dtype = compute_dtype;
#endif
};
struct Case : Control {
  using precision = Own;
};
static_assert(monomorph::admit<Case>());
