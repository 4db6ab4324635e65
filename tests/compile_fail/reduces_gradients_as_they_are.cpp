// expect-error: \[PREC-04\] reduce_dtype must be gradient_dtype, or compute_dtype to send fewer bytes
// expect-text: ReducesGradientsAsTheyAre<[^>]*fp64, [^>]*fp32, [^>]*fp32>
#include "support/control.hpp"
struct Precision {
  static constexpr auto compute_dtype = monomorph::DType::fp32, gradient_dtype = monomorph::DType::fp32,
                        reduce_dtype = NEGATIVE ? monomorph::DType::fp64 : monomorph::DType::fp32,
                        master_dtype = monomorph::DType::fp32;
};
struct Case : Control {
  using precision = Precision;
};
static_assert(monomorph::admit<Case>());
