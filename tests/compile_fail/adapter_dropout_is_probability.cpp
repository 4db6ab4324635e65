// expect-error: \[LORA-03\] the dropout of adapters must lie in \[0, 1\)
// expect-text: AdapterDropoutIsProbability<
#include "support/control.hpp"
struct Case : Control {
  using finetuning =
      monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 4, .alpha = 8, .dropout = NEGATIVE ? 1.0 : 0.5}>;
};
static_assert(monomorph::admit<Case>());
