#pragma once
#include <monomorph/runtime/kernels/sequences.hpp>

#include <cmath>

#include "runtime/kernels/host_device.hpp"

/// What a pair of sequences of which one was chosen costs, for every device.
namespace monomorph {
namespace {

/// One of the two sequences, with its scores by the model and by the reference.
struct ScoredSequence {
  double log_probability, reference;
  std::int64_t tokens;
};

struct PreferenceOutcome {
  double loss;
  double chosen_reward, rejected_reward;
  double chosen_gradient, rejected_gradient;  ///< by the log-probabilities
};

/// log(1 + e^x), for all x.
MONOMORPH_HOST_DEVICE inline double softplus(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }

MONOMORPH_HOST_DEVICE inline PreferenceOutcome preference(const ScoredSequence& chosen, const ScoredSequence& rejected,
                                                          const PreferenceTerms& terms) {
  PreferenceOutcome outcome{};
  const double of_chosen = chosen.log_probability - chosen.reference,
               of_rejected = rejected.log_probability - rejected.reference;
  outcome.chosen_reward = terms.beta * of_chosen;
  outcome.rejected_reward = terms.beta * of_rejected;
  const double wrong = terms.label_smoothing;  // so much of a pair is taken the other way round
  if (terms.kind == PreferenceLoss::squared) {
    const auto n_chosen = static_cast<double>(chosen.tokens), n_rejected = static_cast<double>(rejected.tokens);
    const double difference = of_chosen / n_chosen - of_rejected / n_rejected, wanted = 1 / (2 * terms.beta);
    const double short_of = difference - wanted, of_swapped = difference + wanted;
    outcome.loss = (1 - wrong) * short_of * short_of + wrong * of_swapped * of_swapped;
    const double gradient = 2 * ((1 - wrong) * short_of + wrong * of_swapped);
    outcome.chosen_gradient = gradient / n_chosen;
    outcome.rejected_gradient = -gradient / n_rejected;
  } else {
    const double margin = outcome.chosen_reward - outcome.rejected_reward;
    outcome.loss = (1 - wrong) * softplus(-margin) + wrong * softplus(margin);
    outcome.chosen_gradient = terms.beta * (wrong - 1 / (1 + std::exp(margin)));  // sigmoid(margin) - (1 - wrong)
    outcome.rejected_gradient = -outcome.chosen_gradient;
  }
  return outcome;
}

}  // namespace
}  // namespace monomorph
