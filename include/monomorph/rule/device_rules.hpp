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
template <class Device, class R, class... Runs> consteval auto kernel_rules_of_layers(Stack<Runs...>) {
  return (RuleList<>{} + ... + kernel_rules_of<Device, typename Runs::template block<R>>());
}
template <class Device, class... Policies> consteval auto kernel_rules_of_policies() {
  return (RuleList<>{} + ... + kernel_rules_of<Device, Policies>());
}
template <class Device, class R> consteval auto kernel_rules_of_observer() {
  if constexpr (HasObserver<R>)
    return kernel_rules_of<Device, typename R::observer>();
  else
    return RuleList<>{};
}

/// What is kept in NF4 comes to be numbers by a kernel that the step calls, whichever policy keeps it so.
template <class Device, class R> consteval auto kernel_rules_of_nf4() {
  if constexpr (FinetuningAxis::Look::has_quantizes_parameter<finetuning_of<R>>)
    return RuleList<DeviceHasKernels<Device, finetuning_of<R>, kernels::Nf4>>{};
  else
    return RuleList<>{};
}

/// Stands for a device that does not say what it has.
struct DeviceOfAllKernels {
  using kernel_sets = EveryKernelSet;
};
template <class R> consteval auto device_rules() {
  using Sets = DeviceHasKernelSets<device_of<R>, kernel_sets_of<device_of<R>>>;
  using Device = std::conditional_t<Sets::holds, device_of<R>, DeviceOfAllKernels>;
  return RuleList<Sets>{} + kernel_rules_of_layers<Device, R>(LayersOf<R>{}) +
         kernel_rules_of_policies<Device, typename R::sharding, typename R::precision, typename R::checkpointing,
                                  typename R::optimizer, objective_of<R>, attention_of<R>, finetuning_of<R>,
                                  schedule_of<R>>() +
         kernel_rules_of_nf4<Device, R>() + kernel_rules_of_observer<Device, R>();
}

}  // namespace monomorph::rule
