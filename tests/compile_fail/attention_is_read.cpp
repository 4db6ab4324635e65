// expect-error: \[LAYER-13\] attention must be left out where no block of layers attends
// expect-text: AttentionIsRead<Case, true, false>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      using enum monomorph::ParameterClass;
      take_tensor("mixer.weight", {D, D}, linear, monomorph::initializers::one);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
#if !NEGATIVE
  static constexpr std::int64_t attention_flops_per_token() { return 2 * D; }
#endif
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<Own, 6>>;
  using attention = monomorph::attention::Causal;
};
static_assert(monomorph::admit<Case>());
