// expect-error: \[RECIPE-02\] layers must be `using layers = monomorph::Stack<monomorph::Run<\.\.\.>, \.\.\.>;`
#include "support/control.hpp"
using SixLayers = monomorph::Run<monomorph::DecoderBlock, 6>;
struct Case : Control {
#if NEGATIVE
  using layers = SixLayers;
#else
  using layers = monomorph::Stack<SixLayers>;
#endif
};
static_assert(monomorph::admit<Case>());
