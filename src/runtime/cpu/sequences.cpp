#include <monomorph/runtime/kernels/sequences.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/preference.hpp"

namespace monomorph::cpu {
namespace {

constexpr std::int64_t most_sequences = ObjectiveAxis::most_sequences;

/// What is known of one sample.
struct Scores {
  std::array<double, most_sequences> log_probabilities{}, gradients{};
  std::array<std::int64_t, most_sequences> tokens{};
};

/// Calls f(place in the micro-batch, number of its sequence) for the counted tokens of a sample, in order.
void each_counted(const SequenceBatch& batch, std::int64_t sample, auto&& f) {
  std::int64_t k = -1;
  for (std::int64_t t = 0; t < batch.tokens; ++t) {
    const std::int64_t at = sample * batch.tokens + t;
    if (t == 0 || batch.document_starts_M[at] == t) ++k;
    if (batch.targets_M[at] != ignored_target && k < batch.sequences) f(at, static_cast<std::size_t>(k));
  }
}

/// Whether the sample has all its sequences.
bool take_scores(const SequenceBatch& batch, std::int64_t sample, Scores& scores) {
  in_compute_type(batch.loss_M.dtype, [&]<class S>() {
    each_counted(batch, sample, [&](std::int64_t at, std::size_t k) {
      scores.log_probabilities[k] -= static_cast<double>(batch.loss_M.as<S>()[at]);
      ++scores.tokens[k];
    });
  });
  bool has_all = true;
  for (std::int64_t k = 0; k < batch.sequences; ++k) {
    batch.log_probability_BK.as<double>()[sample * batch.sequences + k] = scores.log_probabilities[k];
    has_all = has_all && scores.tokens[k] > 0;
  }
  return has_all;
}

void write_weights(const SequenceBatch& batch, std::int64_t sample, const Scores& scores) {
  in_compute_type(batch.weight_M.dtype, [&]<class S>() {
    S* const weights = batch.weight_M.as<S>();
    for (std::int64_t t = 0; t < batch.tokens; ++t) weights[sample * batch.tokens + t] = 0;
    // A cross-entropy is less a log-probability.
    each_counted(batch, sample,
                 [&](std::int64_t at, std::size_t k) { weights[at] = static_cast<S>(-scores.gradients[k]); });
  });
}

}  // namespace

void detail::sequence_losses(const SequenceBatch& batch, const SequenceFunction& function) {
  const KernelSpan span(Work::loss, "each_sample");
  for (std::int64_t sample = 0; sample < batch.samples(); ++sample) {
    Scores scores;
    if (take_scores(batch, sample, scores)) {
      std::array<double, 1 + most_objective_metrics> values{};
      function.values(function.context,
                      {scores.log_probabilities.data(), batch.reference_BK + sample * batch.sequences,
                       scores.tokens.data(), scores.gradients.data()},
                      values.data());
      LossSum one{.loss = values[0], .tokens = 1};
      std::copy(values.begin() + 1, values.end(), one.metrics.begin());
      if (batch.sum != nullptr) batch.sum->add(one);
    }
    if (batch.weight_M.present()) write_weights(batch, sample, scores);
  }
}

void preference_loss(Queue queue, const SequenceBatch& batch, const PreferenceTerms& terms) {
  const KernelSpan span(Work::loss, "preference_loss");
  each_sample(queue, batch, [&](const SampleSequences& sample) {
    const auto scored = [&](std::int64_t k) {
      return ScoredSequence{sample.log_probability(k), sample.reference(k), sample.tokens(k)};
    };
    const PreferenceOutcome outcome = preference(scored(0), scored(1), terms);
    sample.set_gradient(0, outcome.chosen_gradient);
    sample.set_gradient(1, outcome.rejected_gradient);
    const double margin = outcome.chosen_reward - outcome.rejected_reward;
    return std::array{outcome.loss, margin > 0 ? 1.0 : 0.0, margin, outcome.chosen_reward, outcome.rejected_reward};
  });
}

}  // namespace monomorph::cpu
