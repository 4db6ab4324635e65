#pragma once
#include <array>
#include <concepts>
#include <initializer_list>
#include <monomorph/core/dtype.hpp>
#include <monomorph/core/memory_space.hpp>
#include <monomorph/policy/axis.hpp>
#include <monomorph/spec/tensor_info.hpp>
#include <string_view>

namespace monomorph {

/// What an optimiser must see to update a tensor.
enum class UpdateScope {
  elements,  ///< each element alone, so that a rank updates the shard that it holds
  matrices,  ///< whole matrices, too: `transform` is given the gradient of each, gathered if it is sharded
};

/// The buffers that an optimiser keeps for a tensor, each with an element for every parameter. In checkpoints the name
/// of a buffer comes before that of the tensor: "moment1.layers.0.mlp.up.weight".
struct StateBuffers {
  static constexpr int capacity = 4;
  std::array<std::string_view, capacity> names{};
  int n = 0;
  constexpr StateBuffers() = default;
  constexpr StateBuffers(std::initializer_list<std::string_view> given) {
    for (const std::string_view name : given) names[n++] = name;
  }
  friend constexpr bool operator==(const StateBuffers&, const StateBuffers&) = default;
};

/// How parameters follow from gradients. A policy may export `template <class R> using rules = RuleList<…>`. Besides
/// the parts, it has
///
///   template <class Queue> static void update(Queue, const ElementUpdate&, const Hparams&, const UpdateTerms&);
///
/// which updates a run of elements by kernels of the queue (runtime/kernels/optimizer.hpp), or by `each_element` with
/// arithmetic of its own. For classes of the scope `matrices` it has two more, see optim/muon.hpp.
struct OptimizerAxis {
  MONOMORPH_REQUIRED_AXIS(optimizer, "monomorph::optim::AdamW")
  template <class P> struct Parts {
    static constexpr bool hparams = requires { typename P::Hparams; };
    static constexpr bool scope = requires(ParameterClass parameter_class) {
      { P::scope(parameter_class) } -> std::same_as<UpdateScope>;
      typename Constant<P::scope(ParameterClass::linear)>;
    };
    static constexpr bool state = requires(ParameterClass parameter_class) {
      { P::state(parameter_class) } -> std::same_as<StateBuffers>;
      typename std::integral_constant<int, P::state(ParameterClass::linear).n>;  // nvcc does not accept a Constant here
    };
    static constexpr bool state_space = !requires { &P::state_space; }
    || MONOMORPH_HAS_CONSTANT(MemorySpace, state_space);
    static constexpr bool all_hold = is_named<P> && hparams && scope && state && state_space;
    static consteval void explain() {
      static_assert(is_named<P>,
                    "[OPTIM-02] an optimizer must have `static constexpr std::string_view name` "
                    "(docs/rules.md#optim-02)");
      static_assert(
          hparams,
          "[OPTIM-02] an optimizer must have `struct Hparams`, adapted by BOOST_HANA_ADAPT_STRUCT: the section "
          "`optimizer` of the hyperparameters (docs/rules.md#optim-02)");
      static_assert(
          scope,
          "[OPTIM-02] an optimizer must have `static constexpr monomorph::UpdateScope scope(ParameterClass)`: "
          "whether it updates single elements or whole matrices (docs/rules.md#optim-02)");
      static_assert(
          state,
          "[OPTIM-02] an optimizer must have `static constexpr monomorph::StateBuffers state(ParameterClass)`: "
          "the names of the buffers that it keeps (docs/rules.md#optim-02)");
      static_assert(
          state_space,
          "[OPTIM-02] an optimizer's state_space, if it has one, must be `static constexpr monomorph::MemorySpace "
          "state_space`: where its state and the master parameters lie (docs/rules.md#optim-02)");
    }
  };
};
template <class P> concept OptimizerPolicy = Fits<OptimizerAxis, P>;

/// The classes that an optimiser updates.
inline constexpr ParameterClass all_parameter_classes[] = {ParameterClass::linear, ParameterClass::embedding,
                                                           ParameterClass::norm, ParameterClass::bias,
                                                           ParameterClass::head};

constexpr bool is_optimized(ParameterClass parameter_class) { return parameter_class != ParameterClass::state; }

/// What an optimiser keeps for a class of parameters, and what it must see of them. A class that no optimiser updates
/// has no buffers.
template <OptimizerPolicy P> constexpr StateBuffers state_buffers(ParameterClass parameter_class) {
  return is_optimized(parameter_class) ? P::state(parameter_class) : StateBuffers{};
}
template <OptimizerPolicy P> constexpr UpdateScope update_scope(ParameterClass parameter_class) {
  return is_optimized(parameter_class) ? P::scope(parameter_class) : UpdateScope::elements;
}

/// Whether some tensors are updated as whole matrices.
template <OptimizerPolicy P>
inline constexpr bool updates_matrices = [] {
  for (const ParameterClass parameter_class : all_parameter_classes)
    if (P::scope(parameter_class) == UpdateScope::matrices) return true;
  return false;
}();

/// Where the optimiser's state and the master parameters lie between updates.
template <OptimizerPolicy P>
inline constexpr MemorySpace state_space = [] {
  if constexpr (requires { P::state_space; }) return P::state_space;
  return MemorySpace::device;
}();

/// The optimiser without a wrapper that only says where its state lies. Optimisers that are the same without it resume
/// each other's runs.
template <OptimizerPolicy P> constexpr auto without_placement() {
  if constexpr (requires { requires std::same_as<typename P::placed, P>; })
    return std::type_identity<typename P::without_placement>{};
  else
    return std::type_identity<P>{};
}

/// The dtype of an optimiser's state: the one that the policy chooses, or else that of the master parameters.
template <OptimizerPolicy P> constexpr DType state_dtype(DType master) {
  if constexpr (requires { P::state_dtype; })
    return P::state_dtype;
  else
    return master;
}

}  // namespace monomorph
