#pragma once
#include <concepts>
#include <cstdint>
#include <monomorph/policy/axis.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/spec/attention_mask.hpp>
#include <string_view>

namespace monomorph {

/// What a device is told of a layer with attention to say what its kernels keep beside the arena.
struct PassExtent {
  std::int64_t batch, tokens;              ///< sequences of a micro-batch, and tokens of each
  std::int64_t heads, kv_heads, head_dim;  ///< of its attention
  std::int64_t compute_bytes;              ///< of an element of the compute dtype
  AttentionMask mask;
  bool within_documents = false;
  bool tiled = true;           ///< and not by the reference kernel, which drops probabilities
  bool capped = false;         ///< its scores, softly
  bool with_gradients = true;  ///< and not a pass forward alone
};

/// Where a recipe computes. A recipe is an experiment and need not say it: `On<R, Device>` is the same experiment on
/// another device, and a checkpoint of one is a checkpoint of the other. A policy may export
/// `template <class R> using rules = RuleList<…>`.
///
/// Its `Queue` is a handle, cheap to copy, which a kernel takes first: the kernels of a device are functions of the
/// queue's namespace with the contracts of runtime/kernels, and a block finds them by the type of its queue. A kernel
/// may run later than it is called, and in a memory of the device, which the host reaches by copies alone
/// (runtime/memory/host_copy.hpp): it then says `static constexpr bool own_memory = true`. What a device must have is
/// listed in runtime/kernels/kernels.hpp.
struct DeviceAxis {
  MONOMORPH_OPTIONAL_AXIS(device, "monomorph::device::Cpu")
  MONOMORPH_LOOK_UPS(Look, own_memory, workspace_bytes, context_bytes, communication_bytes, batch_scratch_elements,
                     kernel_sets);
  template <class P> struct Parts {
    static constexpr bool name = requires {
      requires detail::PointsTo<decltype(&P::name), std::string_view>;
      typename Constant<std::string_view(P::name).size()>;
    };
    static constexpr bool queue = requires { typename P::Queue; };
    static constexpr bool loss_chunk = requires(std::int64_t padded_vocab) {
      { P::loss_chunk_tokens(padded_vocab) } -> std::same_as<std::int64_t>;
      typename Constant<P::loss_chunk_tokens(1)>;
    };
    static constexpr bool own_memory = !Look::has_own_memory<P> || MONOMORPH_HAS_CONSTANT(bool, own_memory);
    static constexpr bool workspace = !Look::has_workspace_bytes<P> || requires(const PassExtent& extent) {
      requires Look::has_own_memory<P>;
      { P::workspace_bytes(extent) } -> std::same_as<std::int64_t>;
      typename Constant<P::workspace_bytes(PassExtent{})>;
    };
    static constexpr bool context =
        !Look::has_context_bytes<P> || (Look::has_own_memory<P> && MONOMORPH_HAS_CONSTANT(std::int64_t, context_bytes));
    static constexpr bool communication = !Look::has_communication_bytes<P> || requires(int dp) {
      requires Look::has_own_memory<P>;
      { P::communication_bytes(dp) } -> std::same_as<std::int64_t>;
      typename Constant<P::communication_bytes(1)>;
    };
    static constexpr bool batches = !Look::has_batch_scratch_elements<P> || requires {
      requires MONOMORPH_HAS_CONSTANT(std::int64_t, batch_scratch_elements);
      requires(P::batch_scratch_elements >= 0);
    };
    static constexpr bool all_hold =
        name && queue && loss_chunk && own_memory && workspace && context && communication && batches;
    static consteval void explain() {
      static_assert(name,
                    "[DEVICE-01] a device must have `static constexpr std::string_view name` "
                    "(docs/rules.md#device-01)");
      static_assert(queue,
                    "[DEVICE-01] a device must have a type `Queue`, which its kernels take first "
                    "(docs/rules.md#device-01)");
      static_assert(loss_chunk,
                    "[DEVICE-01] a device must have `static constexpr std::int64_t loss_chunk_tokens(std::int64_t "
                    "padded_vocab)`: the tokens whose logits exist at a time (docs/rules.md#device-01)");
      static_assert(own_memory,
                    "[DEVICE-01] a device's own_memory, if it has one, must be `static constexpr bool own_memory`: its "
                    "kernels run later than they are called, in a memory of its own (docs/rules.md#device-01)");
      static_assert(workspace,
                    "[DEVICE-01] a device's workspace_bytes, if it has one, must be `static constexpr std::int64_t "
                    "workspace_bytes(const monomorph::PassExtent&)` beside own_memory: what its kernels keep there "
                    "(docs/rules.md#device-01)");
      static_assert(context,
                    "[DEVICE-01] a device's context_bytes, if it has one, must be `static constexpr std::int64_t "
                    "context_bytes` beside own_memory: what its driver keeps there (docs/rules.md#device-01)");
      static_assert(communication,
                    "[DEVICE-01] a device's communication_bytes, if it has one, must be `static constexpr std::int64_t "
                    "communication_bytes(int ranks)` beside own_memory: what collectives between devices keep there "
                    "(docs/rules.md#device-01)");
      static_assert(batches,
                    "[DEVICE-01] a device's batch_scratch_elements, if it has one, must be `static constexpr "
                    "std::int64_t batch_scratch_elements`, 0 or more: scratch memory for a batch of matrices "
                    "(docs/rules.md#device-01)");
    }
  };
};
template <class P> concept DevicePolicy = Fits<DeviceAxis, P>;

/// What the kernels of a layer keep in a device's memory beside the arena, taking turns with those of others: `static
/// constexpr std::int64_t workspace_bytes(PassExtent)`, if it says so.
template <class Device> constexpr std::int64_t device_workspace_bytes(const PassExtent& extent) {
  if constexpr (DeviceAxis::Look::has_workspace_bytes<Device>)
    return Device::workspace_bytes(extent);
  else
    return 0;
}
/// What its driver keeps there: `static constexpr std::int64_t context_bytes`, if it says so.
template <class Device> constexpr std::int64_t device_context_bytes() {
  if constexpr (DeviceAxis::Look::has_context_bytes<Device>)
    return Device::context_bytes;
  else
    return 0;
}
/// What collectives of data-parallel ranks keep there: `static constexpr std::int64_t communication_bytes(int dp)`, if
/// it says so.
template <class Device> constexpr std::int64_t device_communication_bytes(int dp) {
  if constexpr (DeviceAxis::Look::has_communication_bytes<Device>)
    return Device::communication_bytes(dp);
  else
    return 0;
}

/// Elements of scratch memory for matrices that the device transforms as a batch, as one alone would not occupy it:
/// `static constexpr std::int64_t batch_scratch_elements`. A device that says nothing has no batches, and is given
/// small matrices side by side, by `side_by_side` of its queue: 0.
template <class Device> constexpr std::int64_t batch_scratch_elements() {
  if constexpr (DeviceAxis::Look::has_batch_scratch_elements<Device>)
    return Device::batch_scratch_elements;
  else
    return 0;
}

/// Whether what a device computes with lies in a memory of its own, and not in the host's.
template <class Device>
inline constexpr bool has_own_memory = [] {
  if constexpr (DeviceAxis::Look::has_own_memory<Device>) return bool{Device::own_memory};
  return false;
}();

namespace detail {
// `kernel_sets` that is not a type is not a KernelSets<…>: void, so that a rule reports it.
template <class Device> struct KernelSetsOf {
  using type = std::conditional_t<DeviceAxis::Look::has_kernel_sets<Device>, void, KernelSets<>>;
};
template <class Device>
requires requires { typename Device::kernel_sets; }
struct KernelSetsOf<Device> {
  using type = typename Device::kernel_sets;
};
}  // namespace detail

/// The kernels that a device says that it has, beyond those that all have; none, if it says nothing. That it is a list
/// is for rule/device_rules.hpp.
template <class Device> using kernel_sets_of = typename detail::KernelSetsOf<Device>::type;

/// R on another device. A recipe that names its device is refused on any other (DEVICE-02).
template <class R, class Device> struct On : R { using device = Device; };

namespace detail {
template <class R> struct Experiment { using type = R; };
template <class R, class Device> struct Experiment<On<R, Device>> { using type = R; };
}  // namespace detail

/// The recipe as its author wrote it, whatever device a target of it is for.
template <class R> using experiment_of = typename detail::Experiment<R>::type;

}  // namespace monomorph
