// expect-error: \[MODEL-09\] norm\.epsilon
// expect-error: \[MODEL-10\] dropout\.embedding
// expect-error: \[MODEL-11\] initialization\.std
// expect-error: \[ATTN-06\] rotary\.base
// expect-error: \[ATTN-07\] rotary\.scaling
// expect-error: \[ROTARY-04\] rotary\.linear
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    model.position = monomorph::Position::rotary;
    if (!NEGATIVE) return;
    model.norm.epsilon = infinity;
    model.dropout.residual = no_number;
    model.initialization.std = infinity;
    model.rotary.base = no_number;
    model.rotary.scaling.factor = -infinity;
    model.rotary.linear.factor = infinity;
    model.rotary.dynamic.factor = -infinity;
    model.rotary.yarn.factor = no_number;
  });
};
static_assert(monomorph::admit<Case>());
