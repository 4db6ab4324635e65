// expect-error: \[ENC-01\] a model that makes embeddings must have an objective over embeddings
// expect-text: EmbeddingsHaveObjective<monomorph::objective::NextToken, true, false>
#include "support/encoder.hpp"
struct Case : EncoderControl {
#if NEGATIVE
  using objective = monomorph::objective::NextToken;
#endif
};
static_assert(monomorph::admit<Case>());
