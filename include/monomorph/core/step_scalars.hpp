#pragma once
#include <array>
#include <cstdint>
#include <monomorph/core/exact_sum.hpp>
#include <monomorph/core/loss_sum.hpp>
#include <monomorph/core/step_outcome.hpp>

namespace monomorph {

/// What the gradients that a rank holds add to a norm of all: to the sum of magnitudes or squares, or to the maximum.
struct PartialGradientNorm {
  ExactSum sum;
  double greatest = 0;  ///< NaN if any element is
};

/// What the optimiser's kernels read of a step.
struct UpdateDecision {
  bool applies = true;        ///< false: nothing changes, as StepOutcome::applied says
  double gradient_scale = 1;  ///< 1 / counted tokens, the loss scale and norm clipping
  std::uint64_t update = 1;   ///< its number, from 1: bias corrections and stochastic rounding depend on it
};

/// The numbers of a step, in the memory of the device that computes it. Kernels add to them and read them, and one
/// kernel decides by them; the host reads them when it has waited, and only to report.
struct StepScalars {
  // Of one micro-batch.
  LossSum micro_batch;
  LossSum unused;        ///< what the metrics of an evaluation come with
  double auxiliary = 0;  ///< the losses of its blocks, each times its coefficient; a mean over tokens
  // Of the step's micro-batches so far, on this rank.
  ExactSum loss, auxiliary_loss;  ///< over the counted tokens, or samples
  std::int64_t tokens = 0;
  std::array<ExactSum, most_objective_metrics> metrics{};
  PartialGradientNorm gradient_norm;
  bool others_stop = false, others_save = false;  ///< ranks that were asked to, where there are several
  // From step to step.
  LossScale loss_scale;
  std::int64_t updates = 0;  ///< that were applied
  UpdateDecision decision;
  std::array<StepOutcome, 2> outcomes{};  ///< of the last step that was decided and the one before, by number

  /// Gradients are of a sum over tokens, in which an auxiliary loss, a mean, counts as often.
  constexpr double auxiliary_gradient_scale() const {
    return static_cast<double>(micro_batch.tokens) * loss_scale.value;
  }
};

/// The words in which ranks add up their numbers of a step, in the memory of its device, and what they are of.
struct StepWords {
  std::int64_t* words = nullptr;
  std::int64_t* counters = nullptr;  ///< of the blocks
  std::int64_t n_counters = 0;
  int n_metrics = 0;  ///< of the objective
  bool has_auxiliary_loss = false;
  int rank = 0, n_ranks = 1;

  static constexpr std::int64_t count(std::int64_t n_counters, int n_metrics, bool has_auxiliary_loss, int n_ranks) {
    const int sums = 2 + n_metrics + (has_auxiliary_loss ? 1 : 0);  // those of loss and norm, and these
    return sums * ExactSum::n_words + n_counters + 3 + n_ranks;
  }
};

}  // namespace monomorph
