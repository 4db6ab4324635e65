// expect-error: \[LAYER-12\] all blocks of a run must have the same tensors
// expect-text: BlocksOfRunAlike<Own<Case>, 2, false>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int block = 0) {
      using enum monomorph::ParameterClass;
      take_tensor("mixer.weight", {block == 5 && NEGATIVE ? 2 * D : D, D}, linear, monomorph::initializers::one);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
