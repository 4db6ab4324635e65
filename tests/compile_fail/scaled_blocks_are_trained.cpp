// expect-error: \[PREC-12\] all parameters of all blocks must be trained where products are in fp8
// expect-error: \[PREC-12\] all parameters of all blocks must be trained where products are in fp8
// expect-text: ScaledBlocksAreTrained<.*FreezeFirst<1
// expect-text: ScaledBlocksAreTrained<.*LowRank<
#include "support/control.hpp"
struct Case : Control {
  using precision = monomorph::precision::Fp8Mixed;
#if NEGATIVE
  using finetuning = monomorph::finetuning::FreezeFirst<1>;
#endif
};
struct Adapted : Control {
  using precision = monomorph::precision::Fp8Mixed;
#if NEGATIVE
  using finetuning = monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 8, .alpha = 16}>;
#endif
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<Adapted>());
