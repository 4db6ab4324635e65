// expect-error: \[FREEZE-03\] finetuning must train some unit
// expect-text: TrainsSomething<false>
#include "support/control.hpp"
struct Names {
  static constexpr monomorph::ParameterSelector parameters[] = {NEGATIVE ? "*" : "layers.*"};
};
struct Case : Control {
  using finetuning = monomorph::finetuning::Freeze<Names>;
};
static_assert(monomorph::admit<Case>());
