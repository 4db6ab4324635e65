// expect-error: \[LORA-05\] every target of adapters must be a product of some block
// expect-text: TargetIsInSomeBlock<
#include "support/control.hpp"
struct Case : Control {
  using finetuning = monomorph::finetuning::LowRank<
      monomorph::LowRankSpec{.rank = 4, .alpha = 8, .targets = {.gate = NEGATIVE == 1, .up = true}}>;
};
static_assert(monomorph::admit<Case>());
