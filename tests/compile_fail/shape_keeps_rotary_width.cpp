// Values of a shape are judged by the rules about the model's, too.
// expect-error: \[LAYER-15\] head_dim of a shape must be the model's where position is rotary
// expect-error: \[ATTN-03\]
// expect-text: ShapeKeepsRotaryWidth<[^>]*rotary, 32, 16>
#include "support/control.hpp"
inline constexpr monomorph::BlockShape shape =
    NEGATIVE ? monomorph::BlockShape{.n_heads = 4, .n_kv_heads = 3, .head_dim = 32}
             : monomorph::BlockShape{.n_heads = 8, .n_kv_heads = 2};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model =
      changed([](monomorph::DecoderSpec& m) { m.position = monomorph::Position::rotary; });
  using layers =
      monomorph::Stack<monomorph::Run<monomorph::Shaped<shape>::Block, 2>, monomorph::Run<monomorph::DecoderBlock, 4>>;
};
static_assert(monomorph::admit<Case>());
