#pragma once
#include "runtime/memory/populating.hpp"

#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <span>
#include <vector>

namespace monomorph::train {

/// A copy of what a rank saves of a step's state, in main memory of its own: a checkpoint is written from it while the
/// step goes on.
class StagedState {
 public:
  /// Takes the memory, whose pages are then made behind the steps.   @param writes whether this rank saves anything; if
  /// not, it is empty
  /// @throws UsageError [ARENA-02] the system refuses the memory
  StagedState(TrainingStep& step, bool writes, runtime::ComputedBy steps = runtime::ComputedBy::cores);

  /// Copies the state as it is when all has run that was called before.
  void copy();
  /// What was copied last, for runtime::BackgroundSave.
  std::span<const runtime::PartToSave> parts() const { return parts_; }
  std::int64_t bytes() const { return memory_.bytes(); }

 private:
  TrainingStep& step_;
  const std::vector<StateTensor> tensors_;
  Arena memory_;
  std::vector<std::byte*> places_;  ///< of the tensors
  std::vector<runtime::PartToSave> parts_;
  runtime::Populating populating_;
};

}  // namespace monomorph::train
