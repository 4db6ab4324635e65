#pragma once
#include <monomorph/core/field.hpp>
#include <monomorph/policy/objective_policy.hpp>

namespace monomorph::objective {

struct NextTokenHparams {
  Field<double> label_smoothing{0.0, 0.0, 0.999999,
                                "share of the target that goes to all tokens alike; in training only"};
  Field<double> z_loss{0.0, 0.0, 1.0,
                       "weight of the squared log-sum-exp of the logits, 1e-4 being usual; in training only"};
};

/// Cross-entropy of the next token, averaged over the counted tokens of the whole global batch.
struct NextToken {
  using Hparams = NextTokenHparams;
  static constexpr bool predicts_next_token = true;

  template <class Queue> static auto loss(Queue queue, const auto& logits, const Hparams& hparams) {
    return cross_entropy(queue, logits, {.label_smoothing = hparams.label_smoothing, .z_loss = hparams.z_loss});
  }
};

}  // namespace monomorph::objective

extern template void monomorph::append_fields(monomorph::objective::NextTokenHparams&, FieldList&);
