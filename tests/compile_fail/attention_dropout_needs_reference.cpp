// expect-error: \[ATTN-10\] dropout\.attention must be 0 unless attention_kernel is reference
// expect-text: AttentionDropoutNeedsReference<100000, [^>]*tiled>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.dropout.attention = 0.1;
    if (!NEGATIVE) model.attention_kernel = monomorph::AttentionKernel::reference;
  });
};
static_assert(monomorph::admit<Case>());
