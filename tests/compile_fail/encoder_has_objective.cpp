// expect-error: \[ENC-01\] an EncoderSpec must have an objective over embeddings
// expect-text: EncoderHasObjective<monomorph::objective::NextToken, true, false>
#include "support/encoder.hpp"
struct Case : EncoderControl {
#if NEGATIVE
  using objective = monomorph::objective::NextToken;
#endif
};
static_assert(monomorph::admit<Case>());
