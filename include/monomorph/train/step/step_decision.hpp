#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <optional>
#include <span>
#include <vector>

namespace monomorph::train {

/// How a loss scale follows from what becomes of steps (Micikevicius et al. 2018, section 3.2): a scale that makes
/// gradients infinite is halved, and after growth_steps steps without it is doubled.
struct LossScaling {
  static constexpr double greatest = 0x1p40;
  bool is_dynamic = false;  ///< else the scale stays what it is
  double minimum = 1;       ///< a power of two
  std::int64_t growth_steps = 1;
};
LossScale next_loss_scale(LossScale scale, bool applied, const LossScaling& scaling);

/// What the host knows of a step when it ends.
struct StepSettings {
  GradientNorm norm = GradientNorm::two;
  double max_norm = std::numeric_limits<double>::infinity();  ///< of the mean loss's gradients, after clipping
  LossScaling loss_scaling{};
  bool stops = false;  ///< this rank was asked to end
  bool saves = false;  ///< this rank asks for a checkpoint now
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
  bool applied = false;       ///< false: the gradients were not finite, or nothing was counted, and nothing changed
  LossScale next_loss_scale;
  bool stops = false;  ///< a rank was asked to end
  bool saves = false;  ///< a rank asks for a checkpoint
  /// Of what counted; NaN if nothing did.
  double mean(double sum) const { return sum / static_cast<double>(tokens); }
};

/// Names a step whose outcome can be read, or will be.
struct Ticket {
  std::uint64_t number = 0;
};

/// Joins the ranks' numbers of a step in one small collective, in which everything travels that ranks agree on in it,
/// and decides by them. The host is not asked: it may read the outcome later, when others have been decided.
class StepDecision {
 public:
  /// @param counters of the blocks: this rank's become those of all ranks
  /// @param n_metrics of the objective   @param has_auxiliary_loss whether a block has one
  StepDecision(Communicator& communicator, StepScalars* scalars, std::span<std::int64_t> counters,
               std::size_t n_metrics, bool has_auxiliary_loss);

  /// The gradients' norm has been added up.
  Ticket take(auto queue, const StepSettings& settings) {
    const Ticket ticket{++n_taken_};
    once(queue, [this, settings] { pack(*scalars_, counters_, settings); });
    if (communicator_.size() > 1) synchronize(queue);
    communicator_.all_reduce_sum(words_);
    once(queue, [this, settings, ticket] { decide(settings, ticket); });
    return ticket;
  }
  /// Waits for it.   @param ticket the last, or the last but one
  const StepOutcome& read(auto queue, Ticket ticket) const {
    synchronize(queue);
    return outcomes_[ticket.number % n_kept];
  }

 private:
  static constexpr std::size_t n_kept = 2;

  void pack(const StepScalars& scalars, std::span<const std::int64_t> counters, const StepSettings& settings);
  void decide(const StepSettings& settings, Ticket ticket);

  Communicator& communicator_;
  StepScalars* scalars_;
  std::span<std::int64_t> counters_;
  std::size_t n_metrics_;
  bool has_auxiliary_loss_;
  std::vector<std::int64_t> words_;
  std::uint64_t n_taken_ = 0;
  std::array<StepOutcome, n_kept> outcomes_{};
};

}  // namespace monomorph::train
