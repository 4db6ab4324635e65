// expect-error: \[LAYER-16\] a block that LibTorch differentiates must have a device whose kernels have run when they
// expect-text: Differentiated<
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
/// A queue of a user's own: what counts is not its type, but whether what it is given has run.
struct Queue {};
struct Device : monomorph::device::Cpu {
  static constexpr std::string_view name = "Device";
  using Queue = ::Queue;
#if NEGATIVE
  using kernel_sets = monomorph::KernelSets<monomorph::kernels::Sgd>;
#else
  using kernel_sets = monomorph::KernelSets<monomorph::kernels::Sgd, monomorph::kernels::Autograd>;
#endif
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
