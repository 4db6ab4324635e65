#pragma once
#include <monomorph/core/exact_sum.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <vector>

namespace monomorph::train {

/// A rank's own statistics of a step.
struct LocalStepStats {
  ExactSum loss;  ///< nats, over the counted tokens of its micro-batches
  std::int64_t tokens = 0;
  bool stops = false;  ///< it was asked to end
  bool saves = false;  ///< it asks for a checkpoint now
  void add(const LossSum& micro_batch) {
    loss.add(micro_batch.loss);
    tokens += micro_batch.tokens;
  }
};

/// The statistics of a step over all ranks: the same bits on each, and on any number of ranks that had the same
/// micro-batches.
struct GlobalStepStats {
  double loss = 0;
  std::int64_t tokens = 0;
  double gradient_norm = 0;  ///< of the sum over the tokens, times the loss scale
  double loss_scale = 1;
  bool stops = false;                                                      ///< one of them was asked to end
  bool saves = false;                                                      ///< one of them asks for a checkpoint
  double mean_loss() const { return loss / static_cast<double>(tokens); }  ///< of the counted tokens; NaN without any
  /// What the gradients are multiplied by to be those of the mean loss.
  double gradient_scale() const { return 1 / (static_cast<double>(tokens) * loss_scale); }
};

/// Adds up the ranks' parts: one small collective, in which the norm, the loss and everything else that ranks agree on
/// in a step travels.
class StepStatsReduction {
 public:
  explicit StepStatsReduction(Communicator& communicator) : communicator_(communicator) {}
  GlobalStepStats operator()(const LocalStepStats& local, const PartialGradientNorm& gradients, GradientNorm order);

 private:
  Communicator& communicator_;
  std::vector<std::int64_t> words_;
};

}  // namespace monomorph::train
