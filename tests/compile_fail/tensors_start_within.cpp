// expect-error: \[LAYER-11\] each tensor of a block must start with std >= 0 and cutoff >= 0
// expect-text: TensorsStartWithin<Own<Case>, false>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      using enum monomorph::ParameterClass;
      take_tensor("mixer.weight", {D, D}, linear, {.std = NEGATIVE ? -0.02 : 0.02});
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
