#pragma once
#include <cstdint>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/train/step/check_batch.hpp>
#include <vector>

namespace monomorph::train {

/// The micro-batches of a step, each always in the same place as long as a step does not have more of them than before.
class StepInputs {
 public:
  void keep(const MicroBatch& batch, std::uint64_t step, std::int64_t index, const BatchLimits& of);
  MicroBatch batch(std::int64_t index) const;
  /// What dropout depends on.
  const DropoutPass* pass(std::int64_t index) const { return &at(index).pass; }

 private:
  struct Kept {
    std::vector<std::int32_t> inputs, targets, document_starts;
    std::vector<double> reference;
    DropoutPass pass;
  };
  const Kept& at(std::int64_t index) const { return micro_batches_[static_cast<std::size_t>(index)]; }
  std::vector<Kept> micro_batches_;
};

}  // namespace monomorph::train
