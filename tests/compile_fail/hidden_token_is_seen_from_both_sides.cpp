// One layer that sees behind is enough.
// expect-error: \[ATTN-17\] some layer must attend to tokens behind a token where the objective is not to predict the next one
// expect-text: HiddenTokenIsSeenFromBothSides<Case, false, false>
#include "support/control.hpp"
#if NEGATIVE
using Attention = monomorph::attention::SlidingWindow<8>;
#else
using Attention = monomorph::attention::Bidirectional;
#endif
struct Case : Control {
  using objective = monomorph::objective::MaskedTokens<299>;
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 5>,
                                  monomorph::Run<monomorph::DecoderBlockWith<Attention>::Block, 1>>;
};
static_assert(monomorph::admit<Case>());
