#pragma once
#include <monomorph/core/field.hpp>
#include <monomorph/core/preference_loss.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/policy/objective_policy.hpp>

namespace monomorph::objective {

struct PreferencesHparams {
  Field<double> beta{0.1, 1e-4, 100.0, "how much it costs to leave the reference: the lower, the further a model goes"};
  Field<PreferenceLoss> kind{PreferenceLoss::sigmoid, "sigmoid: DPO; squared: IPO, of log-probabilities per token"};
  Field<double> label_smoothing{0.0, 0.0, 0.499999,
                                "share of the pairs that is taken to be labelled the wrong way round"};
};

/// Of two answers to the same, one was chosen. How much more probable each has become than it is to a reference, times
/// beta, is its reward, and the loss falls with the margin between the two rewards: -log sigmoid of it (DPO: Rafailov
/// et al. 2023, equation 7), with labels that may be wrong (Mitchell 2023), or the square of its distance from 1/2
/// (IPO: Azar et al. 2024, equation 17). The mean is over the pairs of the whole global batch.
struct Preferences {
  using Hparams = PreferencesHparams;
  using needs = KernelSets<kernels::Preference>;
  static constexpr int sequences_per_sample = 2;  ///< what was chosen, and what was rejected
  /// The share of pairs of which the chosen one has the greater reward, and means over pairs.
  static constexpr std::array<ObjectiveMetric, 4> metrics{{{"accuracy", MetricKind::mean, BestValue::highest},
                                                           {"margin", MetricKind::mean, BestValue::highest},
                                                           {"chosen_reward", MetricKind::mean, BestValue::highest},
                                                           {"rejected_reward", MetricKind::mean, BestValue::lowest}}};

  template <class Queue> static auto loss(Queue queue, const auto& sequences, const Hparams& hparams) {
    return preference_loss(queue, sequences,
                           {.kind = hparams.kind, .beta = hparams.beta, .label_smoothing = hparams.label_smoothing});
  }
};

}  // namespace monomorph::objective

extern template void monomorph::append_fields(monomorph::objective::PreferencesHparams&, FieldList&);

template <> struct monomorph::EnumNames<monomorph::PreferenceLoss> {
  static constexpr std::string_view names[] = {"sigmoid", "squared"};
};
