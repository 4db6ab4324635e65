// expect-error: \[FREEZE-01\] a finetuning policy must have `static constexpr bool trains\(monomorph::UnitKind kind,
// int block\)`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  static constexpr bool trains(int block) { return block > 0; }
#else
  static constexpr bool trains(monomorph::UnitKind, int block) { return block > 0; }
#endif
};
struct Case : Control {
  using finetuning = Own;
};
static_assert(monomorph::admit<Case>());
