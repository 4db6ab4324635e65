// expect-error: \[OPTIM-05\] the pattern of a group must be that of a parameter
// expect-text: GroupNamesParameters<1, false,
// expect-text: layers\.0\.attention\.q\.weight|'a', 't', 't', 'e', 'n', 't', 'i', 'o', 'n', '\.', 'q'
#include "support/control.hpp"
struct Groups {
  static constexpr monomorph::ParameterGroup groups[] = {{.parameters = "embedding.*", .lr_multiplier = 0.1},
                                                         {.parameters = NEGATIVE ? "layers.*.atention.q.*"
                                                                                 : "layers.*.attention.*",
                                                          .lr_multiplier = 0.5}};
};
struct Case : Control {
  using optimizer = monomorph::optim::Grouped<monomorph::optim::AdamW, Groups>;
};
static_assert(monomorph::admit<Case>());
