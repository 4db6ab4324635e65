#pragma once
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/step/inference_model.hpp>

#include <cstdint>
#include <vector>

namespace monomorph::train {

/// How probable the sequences of a set are to a model: for each sample and sequence the sum of the log-probabilities of
/// its counted tokens. All ranks call this, each scores its part, and all get the whole.
/// @param model made for micro-batches of so many samples, of a recipe whose objective is over sequences
std::vector<double> sequence_scores(InferenceModel& model, Communicator& communicator,
                                    const data::EvaluationLoader& loader, std::int64_t micro_batch,
                                    std::int64_t sequences_per_sample);

/// The first samples of a set, as a model scores them, and as what lies beside the set does: sums of log-probabilities.
struct ComparedScores {
  double own = 0, reference = 0;
  double apart = 0;  ///< the sum of what is between both, sequence by sequence
  std::int64_t samples = 0, sequences = 0;
};
/// All ranks call this, and get the same.   @param loader with scores of a reference
ComparedScores compare_first_samples(InferenceModel& model, const data::EvaluationLoader& loader,
                                     std::int64_t micro_batch, std::int64_t sequences_per_sample);

}  // namespace monomorph::train
