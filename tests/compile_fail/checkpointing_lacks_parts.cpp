// expect-error: \[ACT-04\] a checkpointing policy must have `static constexpr Recompute recompute\(int block\)`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  static constexpr bool recompute(int) { return true; }
#else
  static constexpr monomorph::Recompute recompute(int) { return monomorph::Recompute::block; }
#endif
};
struct Case : Control {
  using checkpointing = Own;
};
static_assert(monomorph::admit<Case>());
