#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/preference.hpp"

// A block has a sample: its threads look for its sequences together, add up the tokens of both, in one order, and then
// weigh them. A thread adds up the samples.
namespace monomorph::cuda {
namespace {

/// Blocks of a multiprocessor are said to be few, or the compiler would rather have more of them than registers.
constexpr int sample_threads = 256, fewest_sample_blocks = 4;
constexpr int no_sequence = -1;

/// What becomes of a sample.
struct SampleOutcome {
  PreferenceOutcome outcome;
  bool counts;
};

template <class S> struct Samples {
  const S* loss;
  const std::int32_t *targets, *document_starts;
  const double* reference;
  std::int64_t tokens;
  double* log_probability;
  S* weight;  ///< or null
  SampleOutcome* outcomes;
  PreferenceTerms terms;
};

/// Where in a sample the first document behind a place begins; where the sample ends if there is none.
/// @tparam Name as of joined_in_block
template <class Name>
__device__ std::int64_t next_document(const std::int32_t* starts_T, std::int64_t tokens, std::int64_t behind) {
  std::int64_t next = tokens;
  for (std::int64_t t = threadIdx.x; t < tokens; t += sample_threads)
    if (t > behind && starts_T[t] == t) next = Smaller{}(next, t);
  return joined_in_block<Name>(next, Smaller{});
}

/// The sequences of a block's sample.
struct Sequences {
  const std::int32_t* targets_T;
  std::int64_t second, end;  ///< where the second one begins, and what lies behind it

  __device__ Sequences(const std::int32_t* targets, const std::int32_t* starts, std::int64_t tokens)
      : targets_T(targets),
        second(next_document<struct OfSecond>(starts, tokens, 0)),
        end(next_document<struct OfEnd>(starts, tokens, second)) {}
  /// That of a token, where it counts.
  __device__ int at(std::int64_t t) const {
    if (targets_T[t] == ignored_target || t >= end) return no_sequence;
    return t < second ? 0 : 1;
  }
};

template <class S>
__global__ void __launch_bounds__(sample_threads, fewest_sample_blocks) score_samples(Samples<S> samples) {
  const std::int64_t sample = blockIdx.x, first = sample * samples.tokens;
  const Sequences sequences(samples.targets + first, samples.document_starts + first, samples.tokens);
  double of_chosen = 0, of_rejected = 0;
  std::int64_t n_chosen = 0, n_rejected = 0;
  for (std::int64_t t = threadIdx.x; t < samples.tokens; t += sample_threads) {
    const int sequence = sequences.at(t);
    const auto loss = static_cast<double>(samples.loss[first + t]);
    if (sequence == 0) of_chosen -= loss, ++n_chosen;
    if (sequence == 1) of_rejected -= loss, ++n_rejected;
  }
  const ScoredSequence chosen{joined_in_block<struct OfChosen>(of_chosen, Sum{}), samples.reference[2 * sample],
                              joined_in_block<struct OfChosenTokens>(n_chosen, Sum{})},
      rejected{joined_in_block<struct OfRejected>(of_rejected, Sum{}), samples.reference[2 * sample + 1],
               joined_in_block<struct OfRejectedTokens>(n_rejected, Sum{})};
  const bool counts = chosen.tokens > 0 && rejected.tokens > 0;
  const PreferenceOutcome outcome = counts ? preference(chosen, rejected, samples.terms) : PreferenceOutcome{};
  if (threadIdx.x == 0) {
    samples.log_probability[2 * sample] = chosen.log_probability;
    samples.log_probability[2 * sample + 1] = rejected.log_probability;
    samples.outcomes[sample] = {outcome, counts};
  }
  if (samples.weight == nullptr) return;
  for (std::int64_t t = threadIdx.x; t < samples.tokens; t += sample_threads) {
    const int sequence = sequences.at(t);
    const double gradient = sequence == 0 ? outcome.chosen_gradient : sequence == 1 ? outcome.rejected_gradient : 0;
    samples.weight[first + t] = static_cast<S>(-gradient);  // a cross-entropy is less a log-probability
  }
}

__global__ void add_samples(const SampleOutcome* outcomes, std::int64_t samples, LossSum* sum) {
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto& [of_sample, counts] = outcomes[i];
    if (!counts) continue;
    const double margin = of_sample.chosen_reward - of_sample.rejected_reward;
    sum->loss += of_sample.loss;
    ++sum->tokens;
    sum->metrics[0] += margin > 0 ? 1.0 : 0.0;
    sum->metrics[1] += margin;
    sum->metrics[2] += of_sample.chosen_reward;
    sum->metrics[3] += of_sample.rejected_reward;
  }
}

}  // namespace

void preference_loss(Queue queue, const SequenceBatch& batch, const PreferenceTerms& terms) {
  const KernelSpan span(Work::loss, "preference_loss", queue.stream);
  if (!batch.loss_M.present()) return;
  const std::int64_t samples = batch.samples(), n_tokens = batch.loss_M.elements();
  const auto* const reference_words = reinterpret_cast<const std::int32_t*>(batch.reference_BK);
  in_compute_type(batch.loss_M.dtype, [&]<class S>() {
    auto* const outcomes =
        reinterpret_cast<SampleOutcome*>(workspace(queue, samples * static_cast<std::int64_t>(sizeof(SampleOutcome))));
    const Samples<S> of_batch{batch.loss_M.as<const S>(),
                              on_device(queue, batch.targets_M, n_tokens),
                              on_device(queue, batch.document_starts_M, n_tokens),
                              reinterpret_cast<const double*>(
                                  on_device(queue, reference_words, 2 * samples * batch.sequences)),
                              batch.tokens,
                              batch.log_probability_BK.as<double>(),
                              batch.weight_M.present() ? batch.weight_M.as<S>() : nullptr,
                              outcomes,
                              terms};
    launch(score_samples<S>, {static_cast<unsigned>(samples), sample_threads}, queue, of_batch);
    if (batch.sum != nullptr) launch(add_samples, {1, 1}, queue, outcomes, samples, batch.sum);
  });
}

}  // namespace monomorph::cuda
