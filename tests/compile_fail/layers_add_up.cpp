// expect-error: \[RECIPE-04\] the lengths of the runs in layers must add up to n_layers; change layers or
// expect-text: LayersAddUp<6, 4, 3>
#include "support/control.hpp"
struct Case : Control {
  using layers =
      monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<OtherBlock, NEGATIVE ? 3 : 2>>;
};
static_assert(monomorph::admit<Case>());
