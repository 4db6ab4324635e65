// expect-error: \[PREC-03\] compute, gradient and master dtypes must be those of Fp32, Bf16Mixed, Bf16Pure, Fp16Mixed or Fp64
// expect-text: PrecisionIsImplemented<[^>]*bf16, [^>]*bf16, [^>]*fp32>
#include "support/control.hpp"
struct Precision {
  static constexpr auto compute_dtype = monomorph::DType::bf16,
                        gradient_dtype = NEGATIVE ? monomorph::DType::bf16 : monomorph::DType::fp32,
                        reduce_dtype = gradient_dtype, master_dtype = monomorph::DType::fp32;
};
struct Case : Control {
  using precision = Precision;
};
static_assert(monomorph::admit<Case>());
