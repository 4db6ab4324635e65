// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType compute_dtype`
// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType gradient_dtype`
// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType reduce_dtype`
// expect-error: \[PREC-05\] a precision policy must have `static constexpr DType master_dtype`
// expect-error: \[PREC-05\] amax_history of a precision policy, if it has one, must be `static constexpr int
// expect-error: \[PREC-05\] scale_margin of a precision policy, if it has one, must be `static constexpr int
// expect-error: \[PREC-05\] logits_dtype of a precision policy, if it has one, must be `static constexpr DType
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
struct WideHistory : monomorph::precision::Bf16Mixed {
#if NEGATIVE
  static constexpr double amax_history = 16;
#else
  static constexpr int amax_history = 16;
#endif
};
struct MarginAlone : monomorph::precision::Bf16Mixed {
#if NEGATIVE
  static constexpr int scale_margin = 1;
#endif
};
struct NumberedLogits : monomorph::precision::Bf16Mixed {
#if NEGATIVE
  static constexpr int logits_dtype = 2;
#else
  static constexpr auto logits_dtype = compute_dtype;
#endif
};
struct Scaled : Control {
  using precision = WideHistory;
};
struct Apart : Control {
  using precision = MarginAlone;
};
struct Rounded : Control {
  using precision = NumberedLogits;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<Scaled>());
static_assert(monomorph::admit<Apart>());
static_assert(monomorph::admit<Rounded>());
