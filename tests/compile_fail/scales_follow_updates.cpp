// expect-error: \[PREC-08\] amax_history must lie in 1..1024 and scale_margin in 0..8
// expect-error: \[PREC-08\] amax_history must lie in 1..1024 and scale_margin in 0..8
// expect-text: ScalesFollowUpdates<0, 0>
// expect-text: ScalesFollowUpdates<16, 9>
#include "support/control.hpp"
struct NoHistory : monomorph::precision::Fp8Mixed {
  static constexpr int amax_history = NEGATIVE ? 0 : 1024;
};
struct WideMargin : monomorph::precision::Fp8Mixed {
  static constexpr int scale_margin = NEGATIVE ? 9 : 8;
};
struct Case : Control {
  using precision = NoHistory;
};
struct Other : Control {
  using precision = WideMargin;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<Other>());
