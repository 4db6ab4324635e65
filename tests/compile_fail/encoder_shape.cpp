// A block of an encoder may have a shape of its own, which is judged as that of a decoder is.
// expect-error: \[MODEL-05\] d_ff must lie in 1..16777216 where it is given; change d_ff, or leave it out
// expect-error: \[ATTN-03\] n_heads must be a multiple of n_kv_heads, which must be at least 1; change n_kv_heads \(
#include "support/encoder.hpp"
inline constexpr monomorph::BlockShape shape = NEGATIVE
                                                   ? monomorph::BlockShape{.n_heads = 4, .n_kv_heads = 3, .d_ff = 0}
                                                   : monomorph::BlockShape{.n_heads = 8, .n_kv_heads = 2, .d_ff = 96};
struct Case : EncoderControl {
  using layers =
      monomorph::Stack<monomorph::Run<monomorph::Shaped<shape>::Block, 2>, monomorph::Run<monomorph::DecoderBlock, 4>>;
};
static_assert(monomorph::admit<Case>());
