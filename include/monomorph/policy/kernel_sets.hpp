#pragma once
#include <monomorph/core/look_up.hpp>
#include <type_traits>

namespace monomorph {

/// Kernels that single policies and layers call, beyond those that every device has for dense decoders
/// (runtime/kernels/kernels.hpp, which also says of which functions each set consists). A set is a type, whose message
/// is what the compiler prints where a device lacks it. A device says `using kernel_sets = KernelSets<…>`, and a policy
/// or a layer that calls some says `using needs = KernelSets<…>`.
template <class... Sets> struct KernelSets {
  template <class Set> static constexpr bool has = (std::is_same_v<Set, Sets> || ...);
};
/// The sets of a device that has all kernels of the contract.
struct EveryKernelSet {
  template <class> static constexpr bool has = true;
};

MONOMORPH_LOOK_UPS(LookUpKernels, needs);

namespace detail {
template <class... Lists> struct Together { using type = void; };  // one is not a KernelSets<…>, which a rule reports
template <class... Sets> struct Together<KernelSets<Sets...>> { using type = KernelSets<Sets...>; };
template <class... A, class... B, class... Lists>
struct Together<KernelSets<A...>, KernelSets<B...>, Lists...> : Together<KernelSets<A..., B...>, Lists...> {};

// `needs` that is not a type is not a KernelSets<…>: void, so that the same rule reports it.
template <class Caller> struct NeedsOf {
  using type = std::conditional_t<LookUpKernels::has_needs<Caller>, void, KernelSets<>>;
};
template <class Caller>
requires requires { typename Caller::needs; }
struct NeedsOf<Caller> {
  using type = typename Caller::needs;
};
}  // namespace detail

/// What a policy or a layer says that it calls.
template <class Caller> using needs_of = typename detail::NeedsOf<Caller>::type;
/// For what is composed of others, all that they call.
template <class... Callers> using NeedsOfAll = typename detail::Together<KernelSets<>, needs_of<Callers>...>::type;

}  // namespace monomorph

namespace monomorph::kernels {

/// optim::Sgd.
struct Sgd {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the optimizer Sgd must have a device with the kernel sgd, which this one lacks; change "
                  "optimizer to AdamW, or build the recipe for the device cpu (docs/rules.md#device-03)");
  }
};
/// optim::Lion.
struct Lion {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the optimizer Lion must have a device with the kernel lion, which this one lacks; "
                  "change optimizer to AdamW, or build the recipe for the device cpu (docs/rules.md#device-03)");
  }
};
/// optim::Averaged.
struct MovingAverage {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the optimizer Averaged must have a device with the kernel move_average, which this one "
                  "lacks; take the optimizer out of Averaged, or build the recipe for the device cpu "
                  "(docs/rules.md#device-03)");
  }
};
/// Updates of whole matrices: optim::Muon.
struct Orthogonalization {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the optimizer Muon must have a device that makes matrices orthogonal, and this one does "
                  "not; change optimizer to AdamW, or build the recipe for the device cpu (docs/rules.md#device-03)");
  }
};
/// Mixtures of experts.
struct Routing {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] a mixture of experts must have a device that routes tokens to them, and this one does "
                  "not; take blocks with a dense MLP, or build the recipe for the device cpu "
                  "(docs/rules.md#device-03)");
  }
};
/// precision::Fp8Mixed.
struct ScaledProducts {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the precision Fp8Mixed must have a device with products of fp8, which this one lacks; "
                  "change precision to Bf16Mixed, or build the recipe for the device cpu or cuda "
                  "(docs/rules.md#device-03)");
  }
};
/// Heads that make embeddings of texts.
struct TextPooling {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] a model that makes embeddings must have a device that pools the tokens of texts, and "
                  "this one does not; build the recipe for the device cpu (docs/rules.md#device-03)");
  }
};
/// objective::ContrastivePairs.
struct Contrast {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the objective ContrastivePairs must have a device that compares embeddings, and this "
                  "one does not; build the recipe for the device cpu (docs/rules.md#device-03)");
  }
};
/// objective::Preferences.
struct Preference {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the objective Preferences must have a device that compares sequences, and this one does "
                  "not; build the recipe for the device cpu (docs/rules.md#device-03)");
  }
};
/// objective::Distillation.
struct Distillation {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] the objective Distillation must have a device that compares the logits of two models, "
                  "and this one does not; build the recipe for the device cpu or cuda (docs/rules.md#device-03)");
  }
};
/// finetuning::Nf4Base.
struct Nf4 {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] a finetuning policy that keeps matrices in NF4 must have a device that makes numbers of "
                  "them, and this one does not; take finetuning out of Nf4Base, or build the recipe for the device cpu "
                  "(docs/rules.md#device-03)");
  }
};
/// Functions of one's own, called by each_element, each_token or each_sample.
struct OwnArithmetic {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[DEVICE-03] a policy that calls each_element, each_token or each_sample must have a device that "
                  "runs functions of one's own, and this one does not; change the policy to one whose kernels the "
                  "device has, or build the recipe for the device cpu (docs/rules.md#device-03)");
  }
};
/// Blocks that LibTorch differentiates. It reads and writes memory when it is called, so a device has this set if its
/// kernels have run when they return, and its memory is the host's.
struct Autograd {
  template <bool holds> static consteval void explain() {
    static_assert(holds,
                  "[LAYER-16] a block that LibTorch differentiates must have a device whose kernels have run when they "
                  "return and whose memory is the host's, as it reads memory when it is called; build the recipe for "
                  "the device cpu, or give the block a backward of its own (docs/rules.md#layer-16)");
  }
};

}  // namespace monomorph::kernels
