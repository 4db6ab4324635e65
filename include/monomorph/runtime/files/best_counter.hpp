#pragma once
#include <optional>
#include <string>

namespace monomorph::runtime {

struct CheckpointMetadata;

/// The counter (CheckpointMetadata::counters) by which the best checkpoint of a run is told.
struct BestCounter {
  std::string name;      ///< "evaluation_loss"; of several held-out sets "evaluation_loss.wiki"
  bool highest = false;  ///< the highest value is the best, or else the lowest

  bool is_better(double value, double than) const { return highest ? value > than : value < than; }
  /// The counter that has the best value of the run so far: "lowest_evaluation_loss".
  std::string of_run() const;
};

/// By what the run of a checkpoint has kept its best so far; absent if it has not, or has had none.
std::optional<BestCounter> best_counter_of(const CheckpointMetadata& metadata);

/// Whether a counter tells of an evaluation: of what was saved, or of the best of the run.
bool is_of_evaluation(const std::string& counter);

}  // namespace monomorph::runtime
