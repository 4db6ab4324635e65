// expect-error: \[LAYER-10\] no two tensors of a block must share elements
// expect-text: TensorsLieApart<Own<Case>, false>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      using enum monomorph::ParameterClass;
      const monomorph::Slice both = take({2 * D, D});
      add_part("mixer.up.weight", both, 0, D, linear, monomorph::initializers::one);
      add_part("mixer.down.weight", both, NEGATIVE ? D - 1 : D, D, linear, monomorph::initializers::one);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
