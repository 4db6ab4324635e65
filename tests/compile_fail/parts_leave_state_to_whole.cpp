// expect-error: \[OPTIM-04\] the optimizers in ByClass or Averaged must not say in which dtype, or where, their state lies
// expect-text: PartsLeaveStateToWhole<true, false>
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  using optimizer =
      monomorph::optim::ByClass<monomorph::optim::HostState<monomorph::optim::Muon>, monomorph::optim::AdamW>;
#else
  using optimizer =
      monomorph::optim::HostState<monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW>>;
#endif
};
static_assert(monomorph::admit<Case>());
