// expect-error: \[PREC-07\] reduce_dtype must be gradient_dtype where budget has one data-parallel rank
// expect-text: ReductionIsRead<1, [^>]*bf16, [^>]*fp32>
#include "support/control.hpp"
struct Case : Control {
  using precision = monomorph::precision::Bf16MixedReducingBf16;
  static constexpr monomorph::Budget budget{.ranks = NEGATIVE ? 1 : 2,
                                            .bytes_per_rank = monomorph::gib(1),
                                            .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
