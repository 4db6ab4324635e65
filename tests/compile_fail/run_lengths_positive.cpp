// expect-error: \[RECIPE-03\] layers must have at least one Run<Block, n>, and each n >= 1; change layers
// expect-text: RunLengthsPositive<6, 0>
#include "support/control.hpp"
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, NEGATIVE ? 6 : 5>,
                                  monomorph::Run<OtherBlock, NEGATIVE ? 0 : 1>>;
};
static_assert(monomorph::admit<Case>());
