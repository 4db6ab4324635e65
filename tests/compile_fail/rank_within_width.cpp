// expect-error: \[LORA-01\] the rank of adapters must lie in 1..d_model
// expect-text: RankWithinWidth<0, [0-9]+>
#include "support/control.hpp"
struct Case : Control {
  using finetuning = monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = NEGATIVE ? 0 : 4, .alpha = 8}>;
};
static_assert(monomorph::admit<Case>());
