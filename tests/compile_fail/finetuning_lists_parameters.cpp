// expect-error: \[FREEZE-07\] what finetuning::Freeze or TrainOnly is given must list parameters
// expect-text: FinetuningListsParameters<false>
#include "support/control.hpp"
struct Names {
#if NEGATIVE
  static constexpr const char* parameters[] = {"embedding.*"};
#else
  static constexpr monomorph::ParameterSelector parameters[] = {"embedding.*"};
#endif
};
struct Case : Control {
  using finetuning = monomorph::finetuning::Freeze<Names>;
};
static_assert(monomorph::admit<Case>());
