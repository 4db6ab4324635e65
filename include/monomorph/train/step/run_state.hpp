#pragma once
#include <cstdint>
#include <monomorph/train/step/running_moments.hpp>
#include <optional>

namespace monomorph::train {

/// What is usual in a run, by which spikes are told.
struct SpikeLevels {
  RunningMoments loss, gradient_norm;
};

/// Where a run stands: with the parameters, the moments and the hyperparameters, everything that its next step depends
/// on.
struct RunState {
  std::int64_t step = 0;     ///< finished steps, skipped ones included
  std::int64_t updates = 0;  ///< steps that the optimiser took
  std::int64_t samples = 0;  ///< the data position: sequences drawn
  std::int64_t tokens = 0;   ///< counted targets trained on
  std::int64_t skipped = 0;
  std::int64_t skipped_in_a_row = 0;        ///< for another reason than a loss scale that was too high
  double loss_scale = 1;                    ///< of the next step
  std::int64_t steps_at_scale = 0;          ///< since the scale was changed
  std::optional<double> best_evaluation{};  ///< so far, by checkpoint.best_metric, of a run that keeps its best
  SpikeLevels spike_levels{};               ///< of a run that watches for spikes
  std::int64_t rewinds = 0;                 ///< how often it has gone back to a checkpoint
  std::int64_t product_table = 0;           ///< DeviceUse::product_table
  std::int64_t teacher = 0;  ///< of the teacher's weights, by which another one is told; 0: there is none
};

}  // namespace monomorph::train
