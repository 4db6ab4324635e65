// expect-error: \[OBJ-02\] the member `prepare` of an objective must be `static void prepare\(const monomorph::Sample&, const Hparams&\)`
// expect-text: AxisFits<monomorph::ObjectiveAxis, Case>
#include "support/control.hpp"
struct Objective : monomorph::objective::NextToken {
#if NEGATIVE
  static void prepare(monomorph::Sample&) {}
#else
  static void prepare(monomorph::Sample, const Hparams&) {}
#endif
};
struct Case : Control {
  using objective = Objective;
};
static_assert(monomorph::admit<Case>());
