// expect-error: \[LAYER-16\] a block that LibTorch differentiates must compute on CPUs, .*for the device cpu
// expect-text: Differentiated<
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
#if NEGATIVE
struct Queue {};
#else
using monomorph::cpu::Queue;
#endif
struct Device : monomorph::device::Cpu {
  static constexpr std::string_view name = "Device";
  using Queue = ::Queue;
};
template <class R> struct Differentiated : monomorph::AutogradBlock<Differentiated<R>> {
  static at::Tensor compute(const monomorph::AutogradInput& in);
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 4>, monomorph::Run<Differentiated, 2>>;
};
static_assert(monomorph::admit<monomorph::On<Case, Device>>());
