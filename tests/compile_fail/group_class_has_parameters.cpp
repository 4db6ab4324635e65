// expect-error: \[OPTIM-06\] the model must have parameters of a group's class
// expect-text: GroupClassHasParameters<0, [^,]*head[^,]*, false>|GroupClassHasParameters<0, [^,]*4[^,]*, false>
#include "support/control.hpp"
struct Groups {
  static constexpr monomorph::ParameterGroup groups[] = {
      {.parameters = NEGATIVE ? monomorph::ParameterClass::head : monomorph::ParameterClass::embedding,
       .lr_multiplier = 0.5}};
};
struct Case : Control {
  static constexpr auto model = changed([](auto& m) { m.tied_head = true; });
  using optimizer = monomorph::optim::Grouped<monomorph::optim::AdamW, Groups>;
};
static_assert(monomorph::admit<Case>());
