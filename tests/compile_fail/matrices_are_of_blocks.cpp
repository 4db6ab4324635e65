// expect-error: \[OPTIM-03\] an optimizer of whole matrices must leave embeddings, norms and biases to another one
// expect-text: MatricesAreOfBlocks<true, true, true>
#include <monomorph/optim/by_class.hpp>
#include "support/control.hpp"
#if NEGATIVE
using Optimizer = monomorph::optim::Muon;
#else
using Optimizer = monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW>;
#endif
struct Case : Control {
  using optimizer = Optimizer;
};
static_assert(monomorph::admit<Case>());
