// expect-error: \[ACT-06\] Selective<what> must choose something that is computed again; set norm, activation, qkv
#include "support/control.hpp"
struct Case : Control {
  using checkpointing = monomorph::checkpointing::Selective<monomorph::Recompute{.attention = !NEGATIVE}>;
};
static_assert(monomorph::admit<Case>());
