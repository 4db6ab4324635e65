#pragma once
#include <array>
#include <concepts>
#include <initializer_list>
#include <monomorph/core/dtype.hpp>
#include <monomorph/core/memory_space.hpp>
#include <monomorph/policy/axis.hpp>
#include <monomorph/policy/parameter_group.hpp>
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
    for (const std::string_view name : given) {
      if (n < capacity) names[n] = name;
      ++n;
    }
  }
  /// What checkpoints can hold: no more buffers than there is room for, each with a name of its own.
  constexpr bool can_be_kept() const {
    if (n > capacity) return false;
    for (int i = 0; i < n; ++i) {
      if (names[i].empty()) return false;
      for (int j = 0; j < i; ++j)
        if (names[i] == names[j]) return false;
    }
    return true;
  }
  constexpr StateBuffers and_one_more(std::string_view name) const {
    StateBuffers more = *this;
    if (n < capacity) more.names[n] = name;
    ++more.n;
    return more;
  }
  friend constexpr bool operator==(const StateBuffers&, const StateBuffers&) = default;
};

/// The buffer of an optimiser's state that has a moving average of the parameters. What uses a model, evaluations and
/// exports above all, takes this in place of the parameter.
inline constexpr std::string_view average_buffer = "average";

namespace detail {
/// The learning rate that the log shows: `shown_rate(hparams)` where an optimiser has one, and else its `lr`.
template <class P> concept ShowsRate = requires(const typename P::Hparams& hparams) {
  { P::shown_rate(hparams) } -> std::same_as<double>;
};
template <class P> concept HasRate = requires(const typename P::Hparams& hparams) {
  requires std::is_convertible_v<decltype((hparams.lr)), double>;
};
template <class P> concept ScalesWeightDecay = requires(typename P::Hparams& hparams) {
  { P::scale_weight_decay(hparams, 0.5) } -> std::same_as<void>;
};
template <class P> concept HasWeightDecay = requires(typename P::Hparams& hparams) {
  hparams.weight_decay.value *= 0.5;
};
template <class P> concept ScopesClasses = requires(ParameterClass parameter_class) {
  { P::scope(parameter_class) } -> std::same_as<UpdateScope>;
  typename Constant<P::scope(ParameterClass::linear)>;
};
}  // namespace detail

/// The classes that an optimiser updates.
inline constexpr ParameterClass all_parameter_classes[] = {ParameterClass::linear, ParameterClass::embedding,
                                                           ParameterClass::norm, ParameterClass::bias,
                                                           ParameterClass::head};

/// Whether some tensors are updated as whole matrices.
template <class P>
inline constexpr bool updates_matrices = [] {
  for (const ParameterClass parameter_class : all_parameter_classes)
    if (P::scope(parameter_class) == UpdateScope::matrices) return true;
  return false;
}();

/// What an optimiser multiplies to transform a matrix, with its default hyperparameters.
struct TransformWork {
  double flops = 0;           ///< of products, a multiplication and an addition each counted
  DType dtype = DType::fp32;  ///< of their factors, the same for all matrices of an optimiser
};

/// How parameters follow from gradients. A policy may export `template <class R> using rules = RuleList<…>`. Besides
/// the parts, it has
///
///   template <class Queue> static void update(Queue, const ElementUpdate&, const Hparams&, const UpdateTerms&);
///
/// which updates a run of elements by kernels of the queue (runtime/kernels/optimizer.hpp), or by `each_element` with
/// arithmetic of its own. For classes of the scope `matrices` it has three more, see optim/muon.hpp. And it may have
///
///   using combined = CombinedPolicies<…>;                  // optimisers that it calls, which are judged before it
///   static double shown_rate(const Hparams&);              // what the log shows as `lr`, if that is not hparams.lr
///   static constexpr DType state_dtype;                    // of its state, if not that of the masters
///   static constexpr MemorySpace state_space;              // where state and masters lie, see optim/host_state.hpp
///   static constexpr ParameterGroup groups[];              // with factors of their own, see optim/grouped.hpp
///   static void scale_weight_decay(Hparams&, double by);   // if that is not hparams.weight_decay alone
///   static constexpr TransformWork transform_work(Shape);  // of a matrix that it transforms, for predictions
struct OptimizerAxis {
  MONOMORPH_REQUIRED_AXIS(optimizer, "monomorph::optim::AdamW")
  MONOMORPH_LOOK_UPS(Look, update, shown_rate, state_dtype, state_space, placed, without_placement, prepare, transform,
                     workspace_elements, transform_work, combined, groups, scale_weight_decay);
  /// Said of one without these members, and below the firewall of one where they cannot be called.
  template <class P, bool holds> static consteval void explain_update() {
    static_assert(
        holds,
        "[OPTIM-02] an optimizer must have `template <class Queue> static void update(Queue, const auto& run, "
        "const Hparams&, const auto& terms)`: it updates a monomorph::ElementUpdate by "
        "monomorph::UpdateTerms (docs/rules.md#optim-02)");
  }
  template <class P, bool holds> static consteval void explain_transform() {
    static_assert(
        holds,
        "[OPTIM-02] an optimizer of whole matrices must have `prepare(Queue, const auto& run, const Hparams&, "
        "const auto& terms)`, `transform(Queue, const auto& matrix, const auto& workspace, const Hparams&)` "
        "and `static constexpr std::int64_t workspace_elements(monomorph::Shape matrix)`, as optim/muon.hpp "
        "has (docs/rules.md#optim-02)");
  }
  template <class P> struct OwnParts {
    static constexpr bool hparams = requires { typename P::Hparams; };
    static constexpr bool scope = detail::ScopesClasses<P>;
    static constexpr bool state = requires(ParameterClass parameter_class) {
      { P::state(parameter_class) } -> std::same_as<StateBuffers>;
      typename std::integral_constant<int, P::state(ParameterClass::linear).n>;  // nvcc does not accept a Constant here
    };
    static constexpr bool buffers = [] {
      if constexpr (state)
        for (const ParameterClass parameter_class : all_parameter_classes)
          if (!P::state(parameter_class).can_be_kept()) return false;
      return true;
    }();
    static constexpr bool update = Look::has_update<P>;
    static constexpr bool transform = [] {
      if constexpr (scope)
        if constexpr (updates_matrices<P>)
          return Look::has_prepare<P> && Look::has_transform<P> && requires(Shape matrix) {
            { P::workspace_elements(matrix) } -> std::same_as<std::int64_t>;
            typename Constant<P::workspace_elements(Shape{1, 1})>;
          };
      return true;
    }();
    static constexpr bool transform_work = !Look::has_transform_work<P> || requires(Shape matrix) {
      { P::transform_work(matrix) } -> std::same_as<TransformWork>;
      typename Constant<P::transform_work(Shape{1, 1})>;
    };
    static constexpr bool rate = Look::has_shown_rate<P> ? detail::ShowsRate<P> : detail::HasRate<P>;
    static constexpr bool state_dtype = !Look::has_state_dtype<P> || MONOMORPH_HAS_CONSTANT(DType, state_dtype);
    static constexpr bool state_space = !Look::has_state_space<P> || MONOMORPH_HAS_CONSTANT(MemorySpace, state_space);
    static constexpr bool placement = (!Look::has_placed<P> && !Look::has_without_placement<P>) || requires {
      typename P::placed;
      typename P::without_placement;
    };
    static constexpr bool combined = !Look::has_combined<P> || requires { typename P::combined; };
    static constexpr bool groups = !Look::has_groups<P> || ListsGroups<P>;
    static constexpr bool scales = !Look::has_scale_weight_decay<P> || detail::ScalesWeightDecay<P>;
    static constexpr bool all_hold = hparams && scope && state && buffers && update && transform && transform_work &&
                                     rate && state_dtype && state_space && placement && combined && groups && scales;
    static consteval void explain() {
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
          buffers,
          "[OPTIM-02] state(ParameterClass) of an optimizer must name at most 4 buffers, by names that differ and are "
          "not empty: checkpoints have the name before that of the tensor (docs/rules.md#optim-02)");
      explain_update<P, update>();
      explain_transform<P, transform>();
      static_assert(transform_work,
                    "[OPTIM-02] an optimizer's transform_work, if it has one, must be `static constexpr "
                    "monomorph::TransformWork transform_work(monomorph::Shape matrix)`: what `transform` multiplies "
                    "(docs/rules.md#optim-02)");
      static_assert(rate || !hparams,
                    "[OPTIM-02] an optimizer must have a peak learning rate: `lr` among its Hparams, or `static double "
                    "shown_rate(const Hparams&)`, if it has one (docs/rules.md#optim-02)");
      static_assert(state_dtype,
                    "[OPTIM-02] an optimizer's state_dtype, if it has one, must be `static constexpr monomorph::DType "
                    "state_dtype`: the dtype of its state (docs/rules.md#optim-02)");
      static_assert(combined,
                    "[OPTIM-02] an optimizer's combined, if it has one, must be `using combined = "
                    "monomorph::CombinedPolicies<...>`: the optimizers that it calls (docs/rules.md#optim-02)");
      static_assert(placement,
                    "[OPTIM-02] placed and without_placement of an optimizer must both be types: the optimizer itself, "
                    "and the one that it only places elsewhere, as in optim/host_state.hpp (docs/rules.md#optim-02)");
      static_assert(
          state_space,
          "[OPTIM-02] an optimizer's state_space, if it has one, must be `static constexpr monomorph::MemorySpace "
          "state_space`: where its state and the master parameters lie (docs/rules.md#optim-02)");
      static_assert(groups,
                    "[OPTIM-02] an optimizer's groups, if it has any, must be `static constexpr "
                    "monomorph::ParameterGroup groups[]`, in optim::Grouped as a member of its second argument "
                    "(docs/rules.md#optim-02)");
      static_assert(scales || !hparams,
                    "[OPTIM-02] an optimizer's scale_weight_decay, if it has one, must be `static void "
                    "scale_weight_decay(Hparams&, double by)`: it multiplies what decays weights "
                    "(docs/rules.md#optim-02)");
    }
  };

  /// Those of P, behind those of the optimisers that it is made of.
  template <class P> struct Parts : OwnParts<P> {};
  template <class P>
  requires requires { typename P::combined; }
  struct Parts<P> {
    template <class... Policies> static constexpr bool all_fit(CombinedPolicies<Policies...>) {
      return (Parts<Policies>::all_hold && ...);
    }
    template <class... Policies> static consteval void explain_each(CombinedPolicies<Policies...>) {
      (Parts<Policies>::explain(), ...);
    }
    static constexpr bool combined = all_fit(typename P::combined{});
    static constexpr bool all_hold = [] {
      if constexpr (combined) return OwnParts<P>::all_hold;
      return false;
    }();
    static consteval void explain() {
      if constexpr (combined)
        OwnParts<P>::explain();
      else
        explain_each(typename P::combined{});
    }
  };
};
template <class P> concept OptimizerPolicy = Fits<OptimizerAxis, P>;

/// Nothing of an optimiser that does not say.
template <class P> constexpr TransformWork transform_work(Shape matrix) {
  if constexpr (OptimizerAxis::Look::has_transform_work<P>)
    return P::transform_work(matrix);
  else
    return {};
}

constexpr bool is_optimized(ParameterClass parameter_class) { return parameter_class != ParameterClass::state; }

/// What an optimiser keeps for a class of parameters, and what it must see of them. A class that no optimiser updates
/// has no buffers.
template <OptimizerPolicy P> constexpr StateBuffers state_buffers(ParameterClass parameter_class) {
  return is_optimized(parameter_class) ? P::state(parameter_class) : StateBuffers{};
}
template <OptimizerPolicy P> constexpr UpdateScope update_scope(ParameterClass parameter_class) {
  return is_optimized(parameter_class) ? P::scope(parameter_class) : UpdateScope::elements;
}

/// Where the optimiser's state and the master parameters lie between updates.
template <OptimizerPolicy P>
inline constexpr MemorySpace state_space = [] {
  if constexpr (OptimizerAxis::Look::has_state_space<P>) return P::state_space;
  return MemorySpace::device;
}();

/// The optimiser without wrappers that leave the meaning of its state alone: that only say where it lies, or group
/// parameters. Optimisers that are the same without them resume each other's runs.
template <OptimizerPolicy P> constexpr auto without_placement() {
  if constexpr (requires { requires std::same_as<typename P::placed, P>; })
    return without_placement<typename P::without_placement>();
  else
    return std::type_identity<P>{};
}

/// Whether the weight decay of some parameters can be multiplied by a factor, and how.
template <OptimizerPolicy P>
inline constexpr bool scales_weight_decay = detail::ScalesWeightDecay<P> || detail::HasWeightDecay<P>;
template <OptimizerPolicy P> void scale_weight_decay(typename P::Hparams& hparams, double by) {
  if constexpr (detail::ScalesWeightDecay<P>)
    P::scale_weight_decay(hparams, by);
  else
    hparams.weight_decay.value *= by;
}

/// The peak learning rate that the log shows.
template <OptimizerPolicy P> double shown_rate(const typename P::Hparams& hparams) {
  if constexpr (OptimizerAxis::Look::has_shown_rate<P>)
    return P::shown_rate(hparams);
  else
    return hparams.lr;
}

/// The dtype of an optimiser's state: the one that the policy chooses, or else that of the master parameters.
template <OptimizerPolicy P> constexpr DType state_dtype(DType master) {
  if constexpr (OptimizerAxis::Look::has_state_dtype<P>)
    return P::state_dtype;
  else
    return master;
}

}  // namespace monomorph
