// expect-error: \[DISTIL-04\] the attention of a student and that of its teacher must both keep within documents
// expect-text: DocumentsAgree<monomorph::attention::.*, monomorph::attention::Causal, true, false>
#include "support/control.hpp"
struct Teacher : Control {
#if !NEGATIVE
  using attention = monomorph::attention::WithinDocuments;
#endif
};
struct Case : Control {
  using attention = monomorph::attention::WithinDocuments;
  using objective = monomorph::objective::Distillation<Teacher>;
};
static_assert(monomorph::admit<Case>());
