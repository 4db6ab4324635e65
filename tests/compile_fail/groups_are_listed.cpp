// expect-error: \[OPTIM-02\] an optimizer's groups, if it has any, must be `static constexpr monomorph::ParameterGroup
#include "support/control.hpp"
struct Groups {
#if NEGATIVE
  static constexpr double groups[] = {0.5};
#else
  static constexpr monomorph::ParameterGroup groups[] = {{.parameters = "layers.*", .lr_multiplier = 0.5}};
#endif
};
struct Case : Control {
  using optimizer = monomorph::optim::Grouped<monomorph::optim::AdamW, Groups>;
};
static_assert(monomorph::admit<Case>());
