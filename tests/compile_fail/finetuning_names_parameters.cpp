// expect-error: \[FREEZE-04\] a pattern of finetuning must be that of a parameter
// expect-text: FinetuningNamesParameters<1, false,
// expect-text: layers\.0\.mlp\.up\.weight|'m', 'l', 'p', '\.', 'u', 'p'
#include "support/control.hpp"
struct Names {
  static constexpr monomorph::ParameterSelector parameters[] = {"embedding.*",
                                                                NEGATIVE ? "layers.*.mpl.up.weight" : "layers.0.*"};
};
struct Case : Control {
  using finetuning = monomorph::finetuning::Freeze<Names>;
};
static_assert(monomorph::admit<Case>());
