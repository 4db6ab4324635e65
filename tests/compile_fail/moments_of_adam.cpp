// expect-error: \[OPTIM-01\] the optimizer must keep 2 moments per parameter in this release
// expect-text: MomentsOfAdam<1>
#include "support/control.hpp"
struct Momentum : monomorph::optim::AdamW {
  static constexpr int moments = NEGATIVE ? 1 : 2;
};
struct Case : Control {
  using optimizer = Momentum;
};
static_assert(monomorph::admit<Case>());
