// expect-error: \[OPTIM-10\] parameters that lie in one matrix or vector
// expect-text: GroupsBeginAligned<[0-9]+>
#include "support/control.hpp"
struct Groups {
  static constexpr monomorph::ParameterGroup groups[] = {
      {.parameters = NEGATIVE ? "layers.*.attention.q.bias" : "layers.*.attention.?.bias", .lr_multiplier = 0.5}};
};
struct Case : Control {
  static constexpr auto model = changed([](auto& m) {
    m.bias.qkv = true;
    m.n_heads = 3;
    m.d_model = 48;
  });
  using optimizer = monomorph::optim::Grouped<monomorph::optim::AdamW, Groups>;
};
static_assert(monomorph::admit<Case>());
