// Judged in the layers that have an attention of their own, too.
// expect-error: \[ATTN-13\] the prefix of an attention must lie in 0\.\.context_length; change P of Prefix<P>
// expect-text: PrefixWithinContext<monomorph::attention::Prefix<33>, 33, 32>
#include "support/control.hpp"
struct Case : Control {
  using layers = monomorph::Stack<
      monomorph::Run<monomorph::DecoderBlockWith<monomorph::attention::Prefix<32 + NEGATIVE>>::Block, 5>,
      monomorph::Run<monomorph::DecoderBlock, 1>>;
};
static_assert(monomorph::admit<Case>());
