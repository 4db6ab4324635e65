// expect-error: \[PREC-13\] logits_dtype must be compute_dtype, or fp32 where that has 16 bits
// expect-text: LogitsAreOfComputeOrStatistics<[^>]*fp16, [^>]*bf16>
#include "support/control.hpp"
struct Precision : monomorph::precision::Bf16Mixed {
  static constexpr auto logits_dtype = NEGATIVE ? monomorph::DType::fp16 : monomorph::DType::bf16;
};
struct Case : Control {
  using precision = Precision;
};
static_assert(monomorph::admit<Case>());
