// expect-error: \[OBJ-09\] the attention of a recipe whose objective is over sequences must keep within documents
// expect-text: SequencesAreKeptApart<monomorph::objective::Preferences, monomorph::attention::Causal, true, false>
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  using attention = monomorph::attention::Causal;
#else
  using attention = monomorph::attention::PerDocument<monomorph::attention::Causal>;
#endif
  using objective = monomorph::objective::Preferences;
};
static_assert(monomorph::admit<Case>());
