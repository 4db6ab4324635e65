// expect-error: \[OPTIM-08\] of a group, lr_multiplier must be above 0
// expect-error: \[OPTIM-08\] of a group, lr_multiplier must be above 0
// expect-error: \[OPTIM-08\] of a group, lr_multiplier must be above 0
// expect-text: MultipliersInRange<0, 0, 1000000, 1000000>
// expect-text: MultipliersInRange<1, 1000000, -500000, 1000000>
// expect-text: MultipliersInRange<2, 1000000, 1000000, 1100000>
#include "support/control.hpp"
struct Groups {
  static constexpr monomorph::ParameterGroup groups[] = {{.parameters = "embedding.weight",
                                                          .lr_multiplier = NEGATIVE ? 0 : 1e-6},
                                                         {.parameters = "layers.0.*",
                                                          .weight_decay_multiplier = NEGATIVE ? -0.5 : 0},
                                                         {.parameters = "layers.*", .layer_decay = NEGATIVE ? 1.1 : 1}};
};
struct Case : Control {
  using optimizer = monomorph::optim::Grouped<monomorph::optim::AdamW, Groups>;
};
static_assert(monomorph::admit<Case>());
