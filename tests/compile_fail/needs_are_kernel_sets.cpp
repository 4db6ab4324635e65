// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a device says of its kernels must be a list of sets of them
// expect-text: NeedsAreKernelSets<Own, monomorph::kernels::Lion>
// expect-text: NeedsAreKernelSets<OfNoType, void>
#include "support/control.hpp"
struct Own : monomorph::objective::NextToken {
#if NEGATIVE
  using needs = monomorph::kernels::Lion;
#else
  using needs = monomorph::KernelSets<monomorph::kernels::Lion>;
#endif
};
struct OfNoType : monomorph::objective::NextToken {
#if NEGATIVE
  static constexpr int needs = 1;
#endif
};
struct Device : monomorph::device::Cpu {
#if NEGATIVE
  using kernel_sets = monomorph::kernels::Lion;
#else
  using kernel_sets = monomorph::KernelSets<monomorph::kernels::Lion>;
#endif
};
struct Case : Control {
  using objective = Own;
};
struct AnotherCase : Control {
  using objective = OfNoType;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<AnotherCase>());
static_assert(monomorph::admit<monomorph::On<Control, Device>>());
