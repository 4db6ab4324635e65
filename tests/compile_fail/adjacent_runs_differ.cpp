// expect-error: \[RECIPE-10\] adjacent runs of layers must be of different blocks
// expect-text: monomorph::DecoderBlock<Case>, monomorph::DecoderBlock<Case>
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  template <class R> using Second = monomorph::DecoderBlock<R>;
#else
  template <class R> using Second = OtherBlock<R>;
#endif
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Second, 2>>;
};
static_assert(monomorph::admit<Case>());
