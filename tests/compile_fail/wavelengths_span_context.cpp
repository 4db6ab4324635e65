// expect-error: \[ROTARY-03\] context_length, or a window of attention, must be at most 2 pi rotary\.base
// expect-text: WavelengthsSpanContext<131072, 10000000000, 1000000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.context_length = 131'072;
    model.position = monomorph::Position::rotary;
    if (!NEGATIVE) model.rotary.base = 500'000;
  });
};
static_assert(monomorph::admit<Case>());
