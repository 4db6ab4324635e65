// expect-error: \[OPTIM-12\] the state of Averaged must have the dtype of the masters
// expect-text: AverageHasMastersDtype<
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  using optimizer = monomorph::optim::Bf16State<monomorph::optim::Averaged<monomorph::optim::AdamW>>;
#else
  using optimizer = monomorph::optim::Averaged<monomorph::optim::AdamW>;
#endif
};
static_assert(monomorph::admit<Case>());
