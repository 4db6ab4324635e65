#pragma once
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <cstdint>
#include <vector>

namespace monomorph::train {

/// How probable the sequences of a set are to a model: for each sample and sequence the sum of the log-probabilities of
/// its counted tokens.
/// @param step made for micro-batches of so many samples, of a recipe whose objective is over sequences
std::vector<double> sequence_scores(TrainingStep& step, const data::EvaluationLoader& loader, std::int64_t micro_batch,
                                    std::int64_t sequences_per_sample);

}  // namespace monomorph::train
