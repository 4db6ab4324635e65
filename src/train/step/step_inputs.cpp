#include <monomorph/train/step/step_inputs.hpp>

namespace monomorph::train {

void StepInputs::keep(const MicroBatch& batch, std::uint64_t step, std::int64_t index, std::int64_t tokens) {
  if (index >= static_cast<std::int64_t>(micro_batches_.size()))
    micro_batches_.resize(static_cast<std::size_t>(index) + 1);
  Kept& kept = micro_batches_[static_cast<std::size_t>(index)];
  const auto copy = [tokens](const std::int32_t* from, std::vector<std::int32_t>& to) {
    if (from != nullptr) to.assign(from, from + tokens);
  };
  copy(batch.inputs, kept.inputs);
  copy(batch.targets, kept.targets);
  copy(batch.document_starts, kept.document_starts);
  kept.pass = {step, batch.first_sample};
}

MicroBatch StepInputs::batch(std::int64_t index) const {
  const Kept& kept = at(index);
  return {kept.inputs.data(), kept.targets.data(), kept.pass.first_sample,
          kept.document_starts.empty() ? nullptr : kept.document_starts.data()};
}

}  // namespace monomorph::train
