#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/train/observe/step_observer.hpp>
#include <monomorph/train/step/step.hpp>

/// Rules about what a step and a run call of a recipe's policies with arguments that are known below the firewall
/// alone. That the members are there has been judged above it; each has the same words here and there. They are judged
/// before anything else of a recipe is compiled.
namespace monomorph::train {

template <class Queue> struct DeviceHasKernels {
  static constexpr bool holds = Kernels<Queue>;
  static consteval void explain() {
    static_assert(Kernels<Queue>,
                  "[DEVICE-01] a device's Queue must have the kernels that runtime/kernels/kernels.hpp lists, of which "
                  "the lines below name the first that lacks (docs/rules.md#device-01)");
  }
};

template <class P, class Queue> struct OptimizerIsCalled {
  using Hparams = typename P::Hparams;
  static constexpr bool updates =
      requires(UpdatesOf<Queue> queue, const ElementUpdate& run, const Hparams& hparams, const UpdateTerms& terms) {
    P::update(queue, run, hparams, terms);
  };
  static constexpr bool transforms =
      !updates_matrices<P> || requires(UpdatesOf<Queue> queue, const ElementUpdate& run, View view,
                                       const Hparams& hparams, const UpdateTerms& terms) {
    P::prepare(queue, run, hparams, terms);
    P::transform(queue, view, view, hparams);
  };
  static constexpr bool holds = updates && transforms;
  static consteval void explain() {
    OptimizerAxis::explain_update<P, updates>();
    OptimizerAxis::explain_transform<P, transforms>();
  }
};

template <class P, class Queue> consteval auto optimizer_call_rules();
template <class Queue, class... Policies> consteval auto combined_calls(CombinedPolicies<Policies...>) {
  return (RuleList<>{} + ... + optimizer_call_rules<Policies, Queue>());
}
/// Rules of the optimisers that P is made of, and of P itself if those can be called.
template <class P, class Queue> consteval auto optimizer_call_rules() {
  if constexpr (OptimizerAxis::Look::has_combined<P>) {
    using Parts = decltype(combined_calls<Queue>(typename P::combined{}));
    if constexpr (!Parts::all_hold)
      return Parts{};
    else
      return RuleList<OptimizerIsCalled<P, Queue>>{};
  } else {
    return RuleList<OptimizerIsCalled<P, Queue>>{};
  }
}

template <class P, class Queue> struct ObjectiveIsCalled {
  using OfTokens = std::conditional_t<has_teacher<P>, TaughtLogits, TokenLogits>;
  using Made = std::conditional_t<is_over_embeddings<P>, TextEmbeddings,
                                  std::conditional_t<is_over_sequences<P>, SequenceBatch, OfTokens>>;
  static constexpr bool holds = requires(Queue queue, const Made& made, const typename P::Hparams& hparams) {
    P::loss(queue, made, hparams);
  };
  static consteval void explain() { ObjectiveAxis::explain_loss<P, holds>(); }
};

template <class P> struct ObserverIsCalled {
  static constexpr bool holds = requires(P & observer, const ObservedStep& step, ObserverRecords& records) {
    observer.observe(step, records);
  };
  static consteval void explain() { ObserverAxis::explain_observe<P, holds>(); }
};

/// A part of a block.
template <class Part> struct PartIsCalled {
  static constexpr bool passes = requires(const PartTensors<Part>& t, View view) {
    Part::compute(t, view, Recompute{});
    Part::project(t, view, view);
    Part::backward(t, view, view, view, true);
  };
  static constexpr bool decodes = !LookUpPart::has_decode<Part> || requires(const PartDecode<Part>& t, View view) {
    Part::decode(t, view, view, view);
  };
  static constexpr bool holds = passes && decodes;
  static consteval void explain() {
    rule::PartCalls::explain_passes<Part, passes>();
    rule::PartCalls::explain_decode<Part, decodes>();
  }
};
/// A block, or the MLP part of one, that has state of its own.   @tparam OwnParams of an MLP part
template <class P, class Queue, class... OwnParams> struct StateIsUpdated {
  static constexpr bool holds =
      plan::counters_of<P> == 0 || requires(Queue queue, const OwnParams&... params, const ElementUpdate& run,
                                            const std::int64_t* counters, const UpdateTerms& terms) {
    P::update_state(queue, params..., run, counters, terms);
  };
  static consteval void explain() { rule::DeclaredMembersFit<P>::template explain_update_state<holds>(); }
};
template <class Block, class Queue> consteval auto block_call_rules() {
  using OfBlock = RuleList<StateIsUpdated<Block, Queue>>;
  if constexpr (rule::IsComposed<Block>) {
    using Mlp = typename Block::MlpPart;
    return OfBlock{} + RuleList<PartIsCalled<typename Block::AttentionPart>, PartIsCalled<Mlp>,
                                StateIsUpdated<Mlp, Queue, typename Mlp::Params>>{};
  } else {
    return OfBlock{};
  }
}
template <class R, class... Runs> consteval auto block_call_rules_of(Stack<Runs...>) {
  return (RuleList<>{} + ... + block_call_rules<typename Runs::template block<R>, typename device_of<R>::Queue>());
}

template <class R> consteval auto observer_call_rules() {
  if constexpr (rule::HasObserver<R>)
    return RuleList<ObserverIsCalled<typename R::observer>>{};
  else
    return RuleList<>{};
}

/// A policy is called with the queue of the device (an optimiser with UpdatesOf it), so the device is judged first.
template <Recipe R> consteval auto call_rules() {
  using Queue = typename device_of<R>::Queue;
  if constexpr (!DeviceHasKernels<Queue>::holds)
    return RuleList<DeviceHasKernels<Queue>>{};
  else
    return optimizer_call_rules<typename R::optimizer, Queue>() +
           RuleList<ObjectiveIsCalled<objective_of<R>, Queue>>{} + block_call_rules_of<R>(layers_of<R>) +
           observer_call_rules<R>();
}

/// As admit(), but judges what can be judged only where a recipe becomes a program.
template <Recipe R> consteval bool admit_calls() {
  decltype(call_rules<R>())::explain();
  return true;
}

}  // namespace monomorph::train
