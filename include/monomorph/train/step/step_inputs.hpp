#pragma once
#include <cstdint>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/train/step/check_batch.hpp>
#include <vector>

namespace monomorph::train {

/// Copies of a step's micro-batches, which a recorded step reads when it runs. A micro-batch of the same index lies at
/// the same address in every step, unless a step has more of them than any before.
class StepInputs {
 public:
  void keep(const MicroBatch& batch, std::uint64_t step, std::int64_t index, const BatchLimits& of);
  MicroBatch batch(std::int64_t index) const;
  /// What dropout depends on.
  const DropoutPass* pass(std::int64_t index) const { return &at(index).pass; }

 private:
  struct BatchCopy {
    std::vector<std::int32_t> inputs, targets, document_starts;
    std::vector<double> reference;
    DropoutPass pass;
  };
  const BatchCopy& at(std::int64_t index) const { return micro_batches_[static_cast<std::size_t>(index)]; }
  std::vector<BatchCopy> micro_batches_;
};

}  // namespace monomorph::train
