// expect-error: \[LAYER-08\] each tensor of a block must have rows and columns
// expect-text: TensorsHaveElements<Own<Case>, false>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      using enum monomorph::ParameterClass;
      take_tensor("mixer.weight", {D / (NEGATIVE ? 128 : 16), D}, norm, monomorph::initializers::one);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
