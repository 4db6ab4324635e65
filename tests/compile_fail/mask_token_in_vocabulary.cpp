// expect-error: \[OBJ-04\] the mask token of MaskedTokens<id> must be a token of the vocabulary
// expect-error: \[OBJ-04\] the mask token of MaskedTokens<id> must be a token of the vocabulary
// expect-text: MaskTokenInVocabulary<300, 300>
#include "support/control.hpp"
template <int mask_token> struct Case : Control {
  using objective = monomorph::objective::MaskedTokens<mask_token>;
  using attention = monomorph::attention::Bidirectional;
};
static_assert(monomorph::admit<Case<299 + NEGATIVE>>());
static_assert(monomorph::admit<Case<-NEGATIVE>>());
