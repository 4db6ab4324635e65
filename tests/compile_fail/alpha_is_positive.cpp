// expect-error: \[LORA-02\] the alpha of adapters must be finite and above 0
// expect-text: AlphaIsPositive<
#include "support/control.hpp"
struct Case : Control {
  using finetuning = monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 4, .alpha = NEGATIVE ? 0.0 : 8.0}>;
};
static_assert(monomorph::admit<Case>());
