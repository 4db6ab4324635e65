#pragma once
#include <monomorph/core/step_outcome.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <string>

namespace monomorph::train {

/// Watches the losses and the gradients' norms of a run for spikes, as the section `spikes` of the hyperparameters
/// says: numbers that lie too many standard deviations above the mean of the last steps. All ranks see the same
/// numbers, and come to the same limits. What it knows is part of the run's state.
class SpikeGuard {
 public:
  explicit SpikeGuard(const SpikeHparams& hparams) : hparams_(hparams) {}

  bool is_on() const { return hparams_.action.value != SpikeAction::none; }
  bool goes_back() const { return hparams_.action.value == SpikeAction::rewind; }
  /// Beyond which a step is a spike. None, as long as too few steps are known.
  void set_limits(const SpikeLevels& levels, StepSettings& settings) const;
  /// Takes what became of a step. Of a spike the limit counts in its place, so that it moves what is usual, but not
  /// far: a run whose losses have risen for good goes on after some skipped steps.
  void add(const StepOutcome& outcome, SpikeLevels& levels) const;
  /// What was seen in a step that is a spike: "its loss of 9.21 is above 4.87".
  std::string description(const StepOutcome& outcome, const SpikeLevels& levels) const;

 private:
  bool knows_enough(const SpikeLevels& levels) const { return levels.loss.count >= hparams_.window.value / 2; }

  SpikeHparams hparams_;
};

}  // namespace monomorph::train
