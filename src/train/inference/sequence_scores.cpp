#include <monomorph/train/inference/sequence_scores.hpp>

#include "train/inference/share_numbers.hpp"

#include <monomorph/runtime/memory/host_copy.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace monomorph::train {
namespace {

/// Scores one micro-batch after the other.
class SequenceScorer {
 public:
  SequenceScorer(InferenceModel& model, const data::EvaluationLoader& loader, std::int64_t micro_batch,
                 std::int64_t sequences_per_sample)
      : model_(model),
        loader_(loader),
        micro_batch_(micro_batch),
        inputs_(static_cast<std::size_t>(micro_batch * loader.sequence_length())),
        targets_(inputs_.size()),
        document_starts_(inputs_.size()),
        reference_(static_cast<std::size_t>(micro_batch * sequences_per_sample)) {}

  /// By sample and sequence; behind the end of the set anything. Valid until the next call.
  std::span<const double> scores(std::int64_t index) {
    loader_.read(index, micro_batch_,
                 {inputs_.data(), targets_.data(), document_starts_.data(),
                  loader_.scores_per_sample() > 0 ? reference_.data() : nullptr});
    model_.evaluate({inputs_.data(), targets_.data(), 0, document_starts_.data(), reference_.data()});
    return {model_.download(model_.log_probabilities(), buffer_).as<double>(), reference_.size()};
  }
  /// What lies beside the set of the same; 0 if nothing does.
  std::span<const double> reference() const { return reference_; }

 private:
  InferenceModel& model_;
  const data::EvaluationLoader& loader_;
  std::int64_t micro_batch_;
  std::vector<std::int32_t> inputs_, targets_, document_starts_;
  std::vector<double> reference_;
  HostBuffer buffer_;
};

}  // namespace

std::vector<double> sequence_scores(InferenceModel& model, Communicator& communicator,
                                    const data::EvaluationLoader& loader, std::int64_t micro_batch,
                                    std::int64_t sequences_per_sample) {
  SequenceScorer scorer(model, loader, micro_batch, sequences_per_sample);
  const std::int64_t samples = loader.set().n_samples(), batches = (samples + micro_batch - 1) / micro_batch;
  std::vector<double> all(static_cast<std::size_t>(samples * sequences_per_sample));  // 0 but for what this rank scores
  for (std::int64_t first = 0; first < batches; first += communicator.size()) {
    const std::int64_t i = first + communicator.rank();
    const std::span<const double> scores = scorer.scores(std::min(i, batches));  // all ranks compute equally often
    const std::int64_t at = i * micro_batch, n = std::clamp<std::int64_t>(samples - at, 0, micro_batch);
    std::ranges::copy(scores.first(static_cast<std::size_t>(n * sequences_per_sample)),
                      all.begin() + std::min(at, samples) * sequences_per_sample);
  }
  share_numbers(communicator, all);
  return all;
}

ComparedScores compare_first_samples(InferenceModel& model, const data::EvaluationLoader& loader,
                                     std::int64_t micro_batch, std::int64_t sequences_per_sample) {
  SequenceScorer scorer(model, loader, micro_batch, sequences_per_sample);
  const std::span<const double> scores = scorer.scores(0);
  ComparedScores compared{.samples = std::min(micro_batch, loader.set().n_samples())};
  compared.sequences = compared.samples * sequences_per_sample;
  for (std::size_t i = 0; i < static_cast<std::size_t>(compared.sequences); ++i) {
    compared.own += scores[i];
    compared.reference += scorer.reference()[i];
    compared.apart += std::abs(scores[i] - scorer.reference()[i]);
  }
  return compared;
}

}  // namespace monomorph::train
