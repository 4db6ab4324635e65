// expect-error: \[PREC-01\] gradient_dtype must be at least as wide as compute_dtype
// expect-text: GradientsAsWideAsCompute<[^>]*bf16, [^>]*fp32>
#include "support/control.hpp"
struct Precision {
  static constexpr auto compute_dtype = monomorph::DType::fp32,
                        gradient_dtype = NEGATIVE ? monomorph::DType::bf16 : monomorph::DType::fp32,
                        reduce_dtype = gradient_dtype, master_dtype = monomorph::DType::fp32;
};
struct Case : Control {
  using precision = Precision;
};
static_assert(monomorph::admit<Case>());
