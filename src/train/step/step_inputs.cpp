#include <monomorph/train/step/step_inputs.hpp>

namespace monomorph::train {

void StepInputs::keep(const MicroBatch& batch, std::uint64_t step, std::int64_t index, const BatchLimits& of) {
  if (index >= static_cast<std::int64_t>(micro_batches_.size()))
    micro_batches_.resize(static_cast<std::size_t>(index) + 1);
  BatchCopy& kept = micro_batches_[static_cast<std::size_t>(index)];
  const auto copy = [](const auto* from, std::int64_t n, auto& to) {
    if (from != nullptr) to.assign(from, from + n);
  };
  const std::int64_t tokens = of.rows * of.tokens;
  copy(batch.inputs, tokens, kept.inputs);
  copy(batch.targets, tokens, kept.targets);
  copy(batch.document_starts, tokens, kept.document_starts);
  copy(batch.reference, of.rows * of.sequences, kept.reference);
  kept.pass = {step, batch.first_sample};
}

MicroBatch StepInputs::batch(std::int64_t index) const {
  const BatchCopy& kept = at(index);
  const auto given = [](const auto& numbers) { return numbers.empty() ? nullptr : numbers.data(); };
  return {kept.inputs.data(), kept.targets.data(), kept.pass.first_sample, given(kept.document_starts),
          given(kept.reference)};
}

}  // namespace monomorph::train
