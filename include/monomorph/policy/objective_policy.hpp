#pragma once
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// What is minimised, summed over counted tokens. A policy may export `template <class R> using rules = RuleList<…>`. Besides
/// the parts, it has
///
///   template <class Queue> static LossSum loss(Queue, const TokenLogits&, const Hparams&);
///
/// which makes losses and gradients of logits, by a kernel of the queue (runtime/kernels/cross_entropy.hpp), or by
/// `each_token` with arithmetic of its own.
struct ObjectiveAxis {
  MONOMORPH_OPTIONAL_AXIS(objective, "monomorph::objective::NextToken")
  template <class P> struct Parts {
    static constexpr bool hparams = requires { typename P::Hparams; };
    static constexpr bool predicts_next_token = MONOMORPH_HAS_CONSTANT(bool, predicts_next_token);
    static constexpr bool all_hold = is_named<P> && hparams && predicts_next_token;
    static consteval void explain() {
      static_assert(is_named<P>,
                    "[OBJ-02] an objective must have `static constexpr std::string_view name` (docs/rules.md#obj-02)");
      static_assert(hparams,
                    "[OBJ-02] an objective must have `struct Hparams`, adapted by BOOST_HANA_ADAPT_STRUCT: its fields of "
                    "the section `loss` (docs/rules.md#obj-02)");
      static_assert(predicts_next_token,
                    "[OBJ-02] an objective must have `static constexpr bool predicts_next_token`: no token may then "
                    "attend to those behind it (docs/rules.md#obj-02)");
    }
  };
};
template <class P> concept ObjectivePolicy = Fits<ObjectiveAxis, P>;

}  // namespace monomorph
