// expect-error: \[OPTIM-07\] a group must contain a parameter that is trained and that no group before it contains
// expect-error: \[OPTIM-07\] a group must contain a parameter that is trained and that no group before it contains
// expect-text: GroupHasParameters<1, 0>
// expect-text: GroupHasParameters<2, 0>
#include "support/control.hpp"
struct Groups {
  static constexpr monomorph::ParameterGroup groups[] = {
      {.parameters = NEGATIVE ? "layers.*" : "layers.*.weight", .lr_multiplier = 0.1},
      {.parameters = NEGATIVE ? "layers.*.attention.*" : "layers.*.bias", .lr_multiplier = 0.5},
      {.parameters = NEGATIVE ? "embedding.weight" : "head.weight", .lr_multiplier = 0.5}};
};
struct Case : Control {
  static constexpr auto model = changed([](auto& m) {
    m.tied_head = false;
    m.bias.qkv = true;
  });
  using finetuning = monomorph::finetuning::FreezeFirst<1>;
  using optimizer = monomorph::optim::Grouped<monomorph::optim::AdamW, Groups>;
};
static_assert(monomorph::admit<Case>());
