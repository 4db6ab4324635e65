#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <monomorph/core/objective_metric.hpp>
#include <optional>

namespace monomorph {

enum class GradientNorm { one, two, infinity };

/// What losses are multiplied by before backward, a power of two, and for how many steps it has been.
struct LossScale {
  double value = 1;
  std::int64_t steps = 0;
  friend bool operator==(const LossScale&, const LossScale&) = default;
};

/// How a loss scale follows from what becomes of steps (Micikevicius et al. 2018, section 3.2): a scale that makes
/// gradients infinite is halved, and after growth_steps steps without it is doubled.
struct LossScaling {
  static constexpr double greatest = 0x1p40;
  bool is_dynamic = false;  ///< else the scale stays what it is
  double minimum = 1;       ///< a power of two
  std::int64_t growth_steps = 1;
};
/// @param finite whether the gradients of the step were
constexpr LossScale next_loss_scale(LossScale scale, bool finite, const LossScaling& scaling) {
  if (!scaling.is_dynamic) return scale;
  if (!finite) return {scale.value / 2 > scaling.minimum ? scale.value / 2 : scaling.minimum, 0};
  if (scale.steps + 1 < scaling.growth_steps) return {scale.value, scale.steps + 1};
  return {2 * scale.value < LossScaling::greatest ? 2 * scale.value : LossScaling::greatest, 0};
}

/// What the host knows of a step when it ends.
struct StepSettings {
  GradientNorm norm = GradientNorm::two;
  double max_norm = std::numeric_limits<double>::infinity();  ///< of the mean loss's gradients, after clipping
  /// Of the mean loss, and of its gradients' norm before clipping: a step with more is a spike, and changes nothing.
  double most_loss = std::numeric_limits<double>::infinity(),
         most_gradient_norm = std::numeric_limits<double>::infinity();
  LossScaling loss_scaling{};
  bool stops = false;  ///< this rank was asked to end
  /// This rank asks for a checkpoint now; or, while one is in flight, it is still writing (RunSaver).
  bool saves = false;
  std::uint64_t number = 0;  ///< of the step, by which its outcome has a place
};

/// What has become of a step, over all ranks: the same bits on each, and on any number of ranks that had the same
/// micro-batches.
struct StepOutcome {
  double loss = 0;  ///< nats, summed over the counted tokens, or samples
  std::int64_t tokens = 0;
  std::array<double, most_objective_metrics> metrics{};  ///< sums
  std::optional<double> auxiliary_loss{};                ///< summed like the loss; absent if no block has one
  double gradient_norm = 0;   ///< of the mean loss's gradients, before clipping; NaN if nothing was counted
  double gradient_scale = 1;  ///< what the gradients are multiplied by to be those of the mean loss
  /// False: the gradients were not finite, nothing was counted, or it was a spike, and nothing changed.
  bool applied = false;
  bool spiked = false;  ///< loss or norm was above what the settings allow
  bool stops = false;   ///< a rank was asked to end
  bool saves = false;   ///< of some rank, what StepSettings says
  LossScale next_loss_scale;
  /// Of what counted; NaN if nothing did.
  double mean(double sum) const { return sum / static_cast<double>(tokens); }
};

}  // namespace monomorph
