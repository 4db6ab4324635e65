// expect-error: \[PREC-09\] compute_dtype must be bf16 where products are in fp8
// expect-text: ScaledTensorsAreBf16<[^>]*fp32>
#include "support/control.hpp"
struct Precision : std::conditional_t<NEGATIVE, monomorph::precision::Fp32, monomorph::precision::Bf16Mixed> {
  static constexpr int amax_history = 4;
};
struct Case : Control {
  using precision = Precision;
};
static_assert(monomorph::admit<Case>());
