#pragma once
#include <monomorph/block/layers.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/recipe/members.hpp>

/// That a recipe's device has the kernels that its policies and layers call.
namespace monomorph::rule {

/// The message is the set's.   @tparam Caller a policy or a layer, which needs the set
template <class Device, class Caller, class Set> struct DeviceHasKernels {
  static constexpr bool holds = kernel_sets_of<Device>::template has<Set>;
  static consteval void explain() { Set::template explain<holds>(); }
};
template <class Needs> inline constexpr bool is_list_of_kernel_sets = false;
template <class... Sets> inline constexpr bool is_list_of_kernel_sets<KernelSets<Sets...>> = true;

template <class Caller, class Needs> struct NeedsAreKernelSets {
  static constexpr bool holds = is_list_of_kernel_sets<Needs>;
  static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-04] what a policy or a layer says that it needs must be a list of sets of kernels; write "
                  "`using needs = monomorph::KernelSets<monomorph::kernels::...>;` (docs/rules.md#device-04)");
  }
};
template <class Device, class Sets> struct DeviceHasKernelSets {
  static constexpr bool holds = requires { requires std::is_same_v<decltype(Sets::template has<void>), const bool>; };
  static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-04] what a device says of its kernels must be a list of sets of them; write `using "
                  "kernel_sets = monomorph::KernelSets<monomorph::kernels::...>;`, or monomorph::EveryKernelSet "
                  "(docs/rules.md#device-04)");
  }
};

template <class Device, class Caller, class Needs> struct KernelRules {
  using type = RuleList<NeedsAreKernelSets<Caller, Needs>>;
};
template <class Device, class Caller, class... Sets> struct KernelRules<Device, Caller, KernelSets<Sets...>> {
  using type = RuleList<DeviceHasKernels<Device, Caller, Sets>...>;
};
template <class Device, class Caller> consteval auto kernel_rules_of() {
  return typename KernelRules<Device, Caller, needs_of<Caller>>::type{};
}
template <class R, class... Runs> consteval auto kernel_rules_of_layers(Stack<Runs...>) {
  return (RuleList<>{} + ... + kernel_rules_of<device_of<R>, typename Runs::template block<R>>());
}

template <class R> consteval auto device_rules() {
  using Device = device_of<R>;
  using Sets = DeviceHasKernelSets<Device, kernel_sets_of<Device>>;
  if constexpr (!Sets::holds)
    return RuleList<Sets>{};
  else
    return kernel_rules_of_layers<R>(LayersOf<R>{}) + kernel_rules_of<Device, typename R::optimizer>() +
           kernel_rules_of<Device, objective_of<R>>();
}

}  // namespace monomorph::rule
