#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/preference.hpp"

#include <bit>
#include <vector>

// A block has a sample: its threads add up the tokens of both sequences, in one order, and then weigh them. A thread
// adds up the samples.
namespace monomorph::cuda {
namespace {

constexpr int sample_threads = 256;
constexpr std::int32_t no_sequence = -1;

/// What becomes of a sample.
struct SampleOutcome {
  PreferenceOutcome outcome;
  bool counts;
};

template <class S> struct Samples {
  const S* loss;
  const std::int32_t* sequence_of;  ///< by token
  const std::int32_t* reference;    ///< the words of numbers of 64 bits
  std::int64_t tokens;
  double* log_probability;
  S* weight;  ///< or null
  SampleOutcome* outcomes;
  PreferenceTerms terms;
};

/// Of a word's memory nothing is known but that it is aligned for words.
__device__ inline double number_at(const std::int32_t* words, std::int64_t i) {
  const auto low = static_cast<std::uint32_t>(words[2 * i]), high = static_cast<std::uint32_t>(words[2 * i + 1]);
  return std::bit_cast<double>(static_cast<std::uint64_t>(high) << 32 | low);
}

template <class S> __global__ void __launch_bounds__(sample_threads) score_samples(Samples<S> samples) {
  const std::int64_t sample = blockIdx.x, first = sample * samples.tokens;
  double of_chosen = 0, of_rejected = 0;
  std::int64_t n_chosen = 0, n_rejected = 0;
  for (std::int64_t t = threadIdx.x; t < samples.tokens; t += sample_threads) {
    const std::int32_t sequence = samples.sequence_of[first + t];
    const auto loss = static_cast<double>(samples.loss[first + t]);
    if (sequence == 0) of_chosen -= loss, ++n_chosen;
    if (sequence == 1) of_rejected -= loss, ++n_rejected;
  }
  const ScoredSequence chosen{joined_in_block<struct OfChosen>(of_chosen, Sum{}),
                              number_at(samples.reference, 2 * sample),
                              joined_in_block<struct OfChosenTokens>(n_chosen, Sum{})},
      rejected{joined_in_block<struct OfRejected>(of_rejected, Sum{}), number_at(samples.reference, 2 * sample + 1),
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
    const std::int32_t sequence = samples.sequence_of[first + t];
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

/// By token the number of its sequence, where it counts.
std::vector<std::int32_t> sequences_of(const SequenceBatch& batch) {
  std::vector<std::int32_t> sequences(static_cast<std::size_t>(batch.loss_M.elements()), no_sequence);
  std::int32_t sequence = no_sequence;
  for (std::int64_t i = 0; i < std::ssize(sequences); ++i) {
    const std::int64_t t = i % batch.tokens;
    if (t == 0) sequence = no_sequence;
    if (t == 0 || batch.document_starts_M[i] == t) ++sequence;
    if (batch.targets_M[i] != ignored_target && sequence < batch.sequences)
      sequences[static_cast<std::size_t>(i)] = sequence;
  }
  return sequences;
}

}  // namespace

void preference_loss(Queue queue, const SequenceBatch& batch, const PreferenceTerms& terms) {
  if (!batch.loss_M.present()) return;
  const std::int64_t samples = batch.samples();
  const std::vector<std::int32_t> sequences = sequences_of(batch);
  const auto* const reference = reinterpret_cast<const std::int32_t*>(batch.reference_BK);
  in_compute_type(batch.loss_M.dtype, [&]<class S>() {
    auto* const outcomes =
        reinterpret_cast<SampleOutcome*>(workspace(queue, samples * static_cast<std::int64_t>(sizeof(SampleOutcome))));
    const Samples<S> of_batch{batch.loss_M.as<const S>(),
                              on_device(queue, sequences.data(), std::ssize(sequences)),
                              on_device(queue, reference, 2 * samples * batch.sequences),
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
