// expect-error: \[OPTIM-02\] an optimizer of whole matrices must have `prepare\(Queue
// expect-text: OwnParts<Own>
#include "support/control.hpp"
struct Own : monomorph::optim::Muon {
#if NEGATIVE
  static std::int64_t workspace_elements(monomorph::Shape) { return 0; }  // not constexpr
#endif
};
struct Case : Control {
  using optimizer = monomorph::optim::ByClass<Own, monomorph::optim::AdamW>;
};
static_assert(monomorph::admit<Case>());
