// expect-error: \[OPTIM-01\] the optimizer's state must have the dtype of the masters, or bf16 beside fp32 masters
// expect-text: StateRoundsMasters<
#include <monomorph/optim/bf16_state.hpp>
#include <monomorph/precision/fp64.hpp>
#include "support/control.hpp"
#if NEGATIVE
using Precision = monomorph::precision::Fp64;
#else
using Precision = Control::precision;
#endif
struct Case : Control {
  using precision = Precision;
  using optimizer = monomorph::optim::Bf16State<monomorph::optim::AdamW>;
};
static_assert(monomorph::admit<Case>());
