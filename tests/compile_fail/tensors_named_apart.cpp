// expect-error: \[LAYER-07\] each tensor of a block must have a name of its own
// expect-text: TensorsNamedApart<Own<Case>, false>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      using enum monomorph::ParameterClass;
      take_tensor("mixer.weight", {1, D}, norm, monomorph::initializers::one);
      take_tensor(NEGATIVE ? "mixer.weight" : "mixer.bias", {1, D}, bias, monomorph::initializers::zero);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
