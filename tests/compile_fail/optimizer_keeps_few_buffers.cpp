// expect-error: \[OPTIM-02\] state\(ParameterClass\) of an optimizer must name at most 4 buffers, by names that differ
#include "support/control.hpp"
struct Own : monomorph::optim::AdamW {
  static constexpr monomorph::StateBuffers state(monomorph::ParameterClass parameter_class) {
    if (parameter_class == monomorph::ParameterClass::norm && NEGATIVE) return {"a", "b", "c", "d", "e"};
    return {"a", "b", "c", "d"};
  }
};
struct Case : Control {
  using optimizer = Own;
};
static_assert(monomorph::admit<Case>());
