// Rotary positions of a layer's own are judged by the rules about the model's, too: by the window of the layer.
// expect-error: \[ROTARY-03\] context_length, or a window of attention, must be at most 2 pi rotary\.base
// expect-text: WavelengthsSpanContext<1024, 100000000, 1000000>
#include "support/control.hpp"
template <class R>
using Local = monomorph::DecoderBlockWith<monomorph::attention::SlidingWindow<NEGATIVE ? 1024 : 512>,
                                          monomorph::Rotated<monomorph::RotarySpec{.base = 100}>::Block>::Block<R>;
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) {
    m.context_length = 2048;
    m.position = monomorph::Position::rotary;
  });
  using layers = monomorph::Stack<monomorph::Run<Local, 2>, monomorph::Run<monomorph::DecoderBlock, 4>>;
};
static_assert(monomorph::admit<Case>());
