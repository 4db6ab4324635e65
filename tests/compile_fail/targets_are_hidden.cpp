// expect-error: \[OBJ-03\] an objective whose predicts_next_token is false must have `static void prepare\(
// expect-text: AxisFits<monomorph::ObjectiveAxis, Case>
#include "support/control.hpp"
struct Objective : monomorph::objective::NextToken {
  static constexpr bool predicts_next_token = false;
#if NEGATIVE
  static void prepares(const monomorph::Sample&, const Hparams&) {}
#else
  static void prepare(const monomorph::Sample&, const Hparams&) {}
#endif
};
struct Case : Control {
  using objective = Objective;
  using attention = monomorph::attention::Bidirectional;
};
static_assert(monomorph::admit<Case>());
