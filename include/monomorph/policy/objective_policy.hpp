#pragma once
#include <concepts>
#include <monomorph/core/sample.hpp>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// An objective makes something of each sample before forward.
template <class P> concept PreparesSamples = requires(const Sample& sample, const typename P::Hparams& hparams) {
  { P::prepare(sample, hparams) } -> std::same_as<void>;
};

namespace detail {
struct PrepareMember {
  MONOMORPH_MEMBER(prepare)
};
/// There is a member `prepare`, and it is another one than is asked for. A final class can't be asked for the name.
template <class P> consteval bool has_another_prepare() {
  if constexpr (std::is_class_v<P> && !std::is_final_v<P>) return PrepareMember::named<P> && !PreparesSamples<P>;
  return false;
}
}  // namespace detail

/// What is minimised, summed over counted tokens. A policy may export `template <class R> using rules = RuleList<…>`.
/// Besides the parts, it has
///
///   template <class Queue> static LossSum loss(Queue, const TokenLogits&, const Hparams&);
///
/// which makes losses and gradients of logits, by a kernel of the queue (runtime/kernels/cross_entropy.hpp), or by
/// `each_token` with arithmetic of its own. It may have
///
///   static void prepare(const Sample&, const Hparams&);
///
/// which changes the inputs and targets of a sample (core/sample.hpp) before a batch is made of them, in training and
/// in evaluations. Targets come as the tokens behind the inputs, or, where `predicts_next_token` is false, as the
/// inputs themselves: `prepare` then hides those that are to be predicted, and ignores the other targets.
struct ObjectiveAxis {
  MONOMORPH_OPTIONAL_AXIS(objective, "monomorph::objective::NextToken")
  template <class P> struct Parts {
    static constexpr bool hparams = requires { typename P::Hparams; };
    static constexpr bool predicts_next_token = MONOMORPH_HAS_CONSTANT(bool, predicts_next_token);
    static constexpr bool prepare = !detail::has_another_prepare<P>();
    /// A token sees itself: a target that is its own input must be hidden.
    static constexpr bool hides_targets = [] {
      if constexpr (hparams && predicts_next_token) return bool{P::predicts_next_token} || PreparesSamples<P>;
      return true;
    }();
    static constexpr bool all_hold = is_named<P> && hparams && predicts_next_token && prepare && hides_targets;
    static consteval void explain() {
      static_assert(is_named<P>,
                    "[OBJ-02] an objective must have `static constexpr std::string_view name` (docs/rules.md#obj-02)");
      static_assert(
          hparams,
          "[OBJ-02] an objective must have `struct Hparams`, adapted by BOOST_HANA_ADAPT_STRUCT: its fields of "
          "the section `loss` (docs/rules.md#obj-02)");
      static_assert(predicts_next_token,
                    "[OBJ-02] an objective must have `static constexpr bool predicts_next_token`: no token may then "
                    "attend to those behind it (docs/rules.md#obj-02)");
      static_assert(prepare || !hparams,
                    "[OBJ-02] the member `prepare` of an objective must be `static void prepare(const "
                    "monomorph::Sample&, const Hparams&)`: it changes inputs and targets of a sample "
                    "(docs/rules.md#obj-02)");
      static_assert(!prepare || hides_targets,
                    "[OBJ-03] an objective whose predicts_next_token is false must have `static void prepare(const "
                    "monomorph::Sample&, const Hparams&)`, as a token's target is then the token itself, which "
                    "`prepare` must hide in the inputs (docs/rules.md#obj-03)");
    }
  };
};
template <class P> concept ObjectivePolicy = Fits<ObjectiveAxis, P>;

}  // namespace monomorph
