// expect-error: \[LAYER-17\] a block that derives from monomorph::AutogradBlock must have `static at::Tensor compute
// expect-error: \[LAYER-17\] a block that derives from monomorph::AutogradBlock must have `static at::Tensor compute
// expect-error: \[LAYER-17\] a block that derives from monomorph::AutogradBlock must have `static at::Tensor compute
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
#if !NEGATIVE
  static at::Tensor compute(const monomorph::AutogradInput& in);
#endif
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
/// Another argument, and another result.
template <class R> struct OfTensor : Own<R> {
#if NEGATIVE
  static at::Tensor compute(const at::Tensor& x_BTD);
#endif
};
template <class R> struct Nowhere : Own<R> {
#if NEGATIVE
  static void compute(const monomorph::AutogradInput& in);
#endif
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<Own, 4>, monomorph::Run<OfTensor, 1>, monomorph::Run<Nowhere, 1>>;
};
static_assert(monomorph::admit<Case>());
