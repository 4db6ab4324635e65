// expect-error: \[LAYER-14\] a block that has `decode` must have `struct DecodeTemporary`
// expect-text: Own<Case>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static void decode(const monomorph::DecodeTensorsOf<R>& tensors);
#if !NEGATIVE
  struct DecodeTemporary {
    constexpr DecodeTemporary(monomorph::Layout&, monomorph::Layout&, std::int64_t /*B*/) {}
  };
  struct DecodeCache {
    constexpr DecodeCache(monomorph::Layout&, std::int64_t /*rows*/) {}
  };
#endif
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
