#include <monomorph/train/inference/sequence_scores.hpp>

#include <monomorph/runtime/memory/host_copy.hpp>

#include <algorithm>

namespace monomorph::train {

std::vector<double> sequence_scores(TrainingStep& step, const data::EvaluationLoader& loader, std::int64_t micro_batch,
                                    std::int64_t sequences_per_sample) {
  const auto size = static_cast<std::size_t>(micro_batch * loader.sequence_length());
  std::vector<std::int32_t> inputs(size), targets(size), document_starts(size);
  const std::vector<double> no_reference(static_cast<std::size_t>(micro_batch * sequences_per_sample));
  const data::BatchBuffers batch{inputs.data(), targets.data(), document_starts.data()};
  std::vector<double> scores;
  std::int64_t left = loader.set().n_samples();
  for (std::int64_t i = 0; left > 0; ++i, left -= micro_batch) {
    loader.read(i, micro_batch, batch);
    step.evaluate({batch.inputs_BT, batch.targets_BT, 0, batch.document_starts_BT, no_reference.data()});
    HostBuffer buffer;
    const View made = step.download(step.log_probabilities(), buffer);
    const auto* const first = made.as<double>();
    scores.insert(scores.end(), first, first + std::min(left, micro_batch) * sequences_per_sample);
  }
  return scores;
}

}  // namespace monomorph::train
