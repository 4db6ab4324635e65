// g++ 12 finds the base's type behind these values, and would train with it.
// expect-error: \[RECIPE-06\] precision must be a type; write `using precision = monomorph::precision::Bf16Mixed;`
// expect-error: \[RECIPE-06\] checkpointing must be a type
// expect-error: \[RECIPE-06\] optimizer must be a type
// expect-error: \[RECIPE-06\] attention must be a type
#include "support/control.hpp"
struct Base : Control {
  using attention = monomorph::attention::Causal;
};
struct Case : Base {
#if NEGATIVE
  static constexpr auto precision = monomorph::precision::Bf16Mixed{};
  monomorph::checkpointing::EveryBlock checkpointing;
  static int optimizer() { return 0; }
  enum { attention };
#endif
};
static_assert(monomorph::admit<Case>());
