// expect-error: \[LAYER-01\] a block must have `struct Params : monomorph::ParameterLayout`
// expect-error: \[LAYER-02\] a block must have `struct Saved`
// expect-error: \[LAYER-03\] a block must have `struct Temporary`
// expect-error: \[LAYER-04\] a block must have `static constexpr std::int64_t matmul_flops_per_token\(\)`
// expect-error: \[LAYER-05\] a block must have `static void forward\(const TensorsOf<R>&, const Saved&\)`
// expect-text: Own<Case>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
#if NEGATIVE
template <class R> struct Own {
  struct Params {};                                                   // no layout
  struct Saved {};                                                    // takes nothing
  static std::int64_t matmul_flops_per_token() { return 0; }          // not constexpr
  static void forward(const monomorph::TensorsOf<R>&, const Saved&);  // and no way back
};
#else
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
#endif
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
