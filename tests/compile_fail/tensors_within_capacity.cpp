// expect-error: \[LAYER-06\] a block must have at most 40 tensors
// expect-text: TensorsWithinCapacity<Own<Case>, 41>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <class R> struct Own : monomorph::AutogradBlock<Own<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {
      using enum monomorph::ParameterClass;
      constexpr std::string_view names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO";
      for (int i = 0; i < (NEGATIVE ? 41 : 40); ++i)
        take_tensor(names.substr(i, 1), {1, D}, norm, monomorph::initializers::one);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Own, 2>>;
};
static_assert(monomorph::admit<Case>());
