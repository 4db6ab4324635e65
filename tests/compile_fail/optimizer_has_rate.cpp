// expect-error: \[OPTIM-02\] an optimizer must have a peak learning rate: `lr` among its Hparams, or `static double
// shown_rate
#include "support/control.hpp"
#if NEGATIVE
#define RATE learning_rate
#else
#define RATE lr
#endif
struct Own : monomorph::optim::AdamW {
  struct Hparams {
    monomorph::Field<double> RATE{1e-3, 0.0, 1.0, "peak learning rate"};
  };
};
struct Case : Control {
  using optimizer = Own;
};
static_assert(monomorph::admit<Case>());
