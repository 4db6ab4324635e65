// expect-error: \[OBJ-01\] the objective must predict the next token in this release; change objective to NextToken
// expect-text: ObjectiveIsNextToken<false>
#include "support/control.hpp"
struct Denoising : monomorph::objective::NextToken {
  static constexpr bool predicts_next_token = !NEGATIVE;
};
struct Case : Control {
  using objective = Denoising;
};
static_assert(monomorph::admit<Case>());
