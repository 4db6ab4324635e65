// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a policy or a layer says that it needs must be a list of sets of kernels
// expect-error: \[DEVICE-04\] what a device says of its kernels must be a list of sets of them
// expect-text: NeedsAreKernelSets<Own, monomorph::kernels::Lion>
// expect-text: NeedsAreKernelSets<OfNoType, void>
// expect-text: NeedsAreKernelSets<Needy<monomorph::sharding::FullShard>
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
/// On every axis, whatever a policy of it calls.
template <class Policy> struct Needy : Policy {
  using needs = std::conditional_t<NEGATIVE, int, monomorph::KernelSets<>>;
};
struct NeedyObserver {
  static bool wants(std::int64_t) { return false; }
  static void observe(const auto& step, auto& records);
};
struct NeedyCase : Control {
  using sharding = Needy<monomorph::sharding::FullShard>;
  using precision = Needy<monomorph::precision::Fp32>;
  using checkpointing = Needy<monomorph::checkpointing::KeepAll>;
  using optimizer = Needy<monomorph::optim::AdamW>;
  using attention = Needy<monomorph::attention::Causal>;
  using finetuning = Needy<monomorph::finetuning::All>;
  using schedule = Needy<monomorph::schedule::WarmupDecay>;
  using observer = Needy<NeedyObserver>;
};
struct Case : Control {
  using objective = Own;
};
struct AnotherCase : Control {
  using objective = OfNoType;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<AnotherCase>());
static_assert(monomorph::admit<NeedyCase>());
static_assert(monomorph::admit<monomorph::On<Control, Device>>());
