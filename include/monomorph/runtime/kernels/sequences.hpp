#pragma once
#include <array>
#include <cstdint>
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/core/loss_sum.hpp>
#include <monomorph/core/preference_loss.hpp>
#include <monomorph/policy/objective_policy.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <type_traits>

namespace monomorph {

/// The sequences of a micro-batch, of which an objective makes losses and metrics of samples, and says how much the
/// cross-entropy of each token counts. Document k of a sample is its sequence k, and what lies behind the last one is
/// padding. The log-probability of a sequence is that of its counted tokens.
struct SequenceBatch {
  View loss_M;  ///< cross-entropy by token, fp32 or fp64
  const std::int32_t *targets_M, *document_starts_M;
  std::int64_t tokens, sequences;  ///< of a sample: T, K
  const double* reference_BK;      ///< log-probabilities by another model
  View log_probability_BK;         ///< gets those of this one, fp64
  View weight_M;  ///< gets what the gradient of each token's cross-entropy is multiplied by; absent in an evaluation
  LossSum* sum = nullptr;  ///< what losses, samples and metrics are added to, unless it is null

  std::int64_t samples() const { return loss_M.elements() / tokens; }
};

/// One sample, as `each_sample` shows it to an objective.
class SampleSequences {
 public:
  /// @param gradients get those of the sample's loss
  SampleSequences(const double* log_probabilities, const double* references, const std::int64_t* tokens,
                  double* gradients)
      : log_probabilities_(log_probabilities), references_(references), tokens_(tokens), gradients_(gradients) {}
  double log_probability(std::int64_t k) const { return log_probabilities_[k]; }
  double reference(std::int64_t k) const { return references_[k]; }
  /// How many count; at least one.
  std::int64_t tokens(std::int64_t k) const { return tokens_[k]; }
  /// Sets the gradient of the sample's loss with respect to the log-probability of sequence k.
  void set_gradient(std::int64_t k, double gradient) const { gradients_[k] = gradient; }

 private:
  const double *log_probabilities_, *references_;
  const std::int64_t* tokens_;
  double* gradients_;
};

struct PreferenceTerms {
  PreferenceLoss kind = PreferenceLoss::sigmoid;
  double beta = 0.1, label_smoothing = 0;
};

}  // namespace monomorph

namespace monomorph::cpu {

/// Of K = 2 sequences, the first of which was chosen: objective::Preferences has the losses. Metrics are whether the
/// first has the greater reward, the margin between both, and each. Samples that lack a sequence are left out.
void preference_loss(Queue, const SequenceBatch& batch, const PreferenceTerms& terms);

namespace detail {
struct SequenceFunction {
  const void* context;
  void (*values)(const void* context, const SampleSequences& sample, double* values);
  std::int64_t n_values;  ///< of a sample: its loss and its metrics
};
void sequence_losses(const SequenceBatch& batch, const SequenceFunction& function);

template <class F> void call_sequences(const void* f, const SampleSequences& sample, double* values) {
  for (const double value : (*static_cast<const F*>(f))(sample)) *values++ = value;
}
}  // namespace detail

/// A loss with arithmetic of the caller's own: f(sample) is called with the SampleSequences of each sample that has all
/// its sequences, and sets the gradient of each. It gives a std::array<double, 1 + metrics> of the sample's loss and
/// its terms of the objective's metrics.
template <class F> void each_sample(Queue, const SequenceBatch& batch, const F& f) {
  constexpr std::size_t n_values = std::tuple_size_v<std::invoke_result_t<const F&, const SampleSequences&>>;
  static_assert(1 <= n_values && n_values <= 1 + most_objective_metrics);
  detail::sequence_losses(batch, {.context = &f, .values = detail::call_sequences<F>, .n_values = n_values});
}

}  // namespace monomorph::cpu
