// expect-error: \[LORA-04\] adapters must have a target
// expect-text: AdaptsSomething<
#include "support/control.hpp"
struct Case : Control {
  using finetuning = monomorph::finetuning::LowRank<
      monomorph::LowRankSpec{.rank = 4, .alpha = 8, .targets = {.query = !NEGATIVE, .value = false}}>;
};
static_assert(monomorph::admit<Case>());
