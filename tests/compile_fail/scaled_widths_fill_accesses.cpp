// expect-error: \[PREC-11\] the widths of model, of queries, of queries, keys and values together, of the MLP, and
// expect-error: \[PREC-11\] the widths of model, of queries, of queries, keys and values together, of the MLP, and
// expect-text: ScaledWidthsFillAccesses<
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](auto& model) { model.d_ff = NEGATIVE ? 264 : 256; });
  using precision = monomorph::precision::Fp8Mixed;
};
struct Short : Control {
  static constexpr auto model = changed([](auto& model) { model.context_length = NEGATIVE ? 24 : 48; });
  using precision = monomorph::precision::Fp8Mixed;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<Short>());
