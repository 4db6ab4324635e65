// expect-error: \[ATTN-15\] the attention of layers must keep within documents where the recipe's attention does
// expect-text: LayersAgreeOnDocuments<monomorph::attention::SlidingWindow<8>, false, true>
#include "support/control.hpp"
using Window = monomorph::attention::SlidingWindow<8>;
#if NEGATIVE
using Local = Window;
#else
using Local = monomorph::attention::PerDocument<Window>;
#endif
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlockWith<Local>::Block, 5>,
                                  monomorph::Run<monomorph::DecoderBlock, 1>>;
  using attention = monomorph::attention::WithinDocuments;
};
static_assert(monomorph::admit<Case>());
