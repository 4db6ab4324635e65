// expect-error: \[PREC-02\] master_dtype must be at least as wide as compute_dtype
// expect-text: MasterAsWideAsCompute<[^>]*fp32, [^>]*fp64>
#include "support/control.hpp"
struct Precision {
  static constexpr auto compute_dtype = monomorph::DType::fp64, gradient_dtype = monomorph::DType::fp64,
                        reduce_dtype = monomorph::DType::fp64,
                        master_dtype = NEGATIVE ? monomorph::DType::fp32 : monomorph::DType::fp64;
};
struct Case : Control {
  using precision = Precision;
};
static_assert(monomorph::admit<Case>());
