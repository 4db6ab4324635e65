// expect-error: \[DISTIL-05\] an objective with a Teacher must be over the logits of tokens
#include "support/control.hpp"
struct Own : monomorph::objective::Preferences {
#if NEGATIVE
  using Teacher = Control;
#endif
};
struct Case : Control {
  using attention = monomorph::attention::PerDocument<monomorph::attention::Causal>;
  using objective = Own;
};
static_assert(monomorph::admit<Case>());
