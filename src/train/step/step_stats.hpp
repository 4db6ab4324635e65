#pragma once
#include <monomorph/core/exact_sum.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <optional>
#include <vector>

namespace monomorph::train {

/// A rank's own statistics of a step.
struct LocalStepStats {
  ExactSum loss;  ///< nats, over the counted tokens, or samples, of its micro-batches
  std::int64_t tokens = 0;
  std::array<ExactSum, most_objective_metrics> metrics{};
  bool stops = false;  ///< it was asked to end
  bool saves = false;  ///< it asks for a checkpoint now
  void add(const LossSum& micro_batch) {
    loss.add(micro_batch.loss);
    tokens += micro_batch.tokens;
    for (std::size_t i = 0; i < metrics.size(); ++i) metrics[i].add(micro_batch.metrics[i]);
  }
};

/// The statistics of a step over all ranks: the same bits on each, and on any number of ranks that had the same
/// micro-batches.
struct GlobalStepStats {
  double loss = 0;
  std::int64_t tokens = 0;
  std::array<double, most_objective_metrics> metrics{};  ///< sums
  double gradient_norm = 0;                              ///< of the sum over the tokens, times the loss scale
  double loss_scale = 1;
  std::optional<double> auxiliary_loss{};  ///< summed like the loss; absent if no block has one
  bool stops = false;                      ///< one of them was asked to end
  bool saves = false;                      ///< one of them asks for a checkpoint
  double mean_loss() const { return loss / static_cast<double>(tokens); }  ///< of the counted tokens; NaN without any
  std::optional<double> mean_auxiliary_loss() const {
    return auxiliary_loss ? std::optional(*auxiliary_loss / static_cast<double>(tokens)) : std::nullopt;
  }
  /// What the gradients are multiplied by to be those of the mean loss.
  double gradient_scale() const { return 1 / (static_cast<double>(tokens) * loss_scale); }
};

/// Adds up the ranks' parts: one small collective, in which the norm, the loss and everything else that ranks agree on
/// in a step travels.
class StepStatsReduction {
 public:
  /// @param n_metrics of the objective
  explicit StepStatsReduction(Communicator& communicator, std::size_t n_metrics = 0)
      : communicator_(communicator), n_metrics_(n_metrics) {}
  /// @param counts this rank's; the counters become those of all ranks
  GlobalStepStats operator()(const LocalStepStats& local, const PartialGradientNorm& gradients, GradientNorm order,
                             BlockCounts& counts);

 private:
  Communicator& communicator_;
  std::size_t n_metrics_;
  std::vector<std::int64_t> words_;
};

}  // namespace monomorph::train
