#pragma once
#include "train/commands/checkpoint_options.hpp"
#include "train/run/data/held_out_sets.hpp"

#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// The options of commands that measure a checkpoint on held-out data.
struct HeldOutOptions : CheckpointOptions {
  std::vector<std::string> data;
  std::optional<std::int64_t> micro_batch;
  /// @param data_help what --data names   @param unit what --micro-batch counts
  void add_to(CLI::App& app, const std::string& data_help, const std::string& unit);
  /// @throws UsageError [RUN-12] neither the options nor the run name a file; [EVAL-01] several have no names of their
  ///   own; what is wrong with a file
  HeldOutSets sets(const RecipeProgram& recipe, const Hparams& hparams) const;
  std::int64_t micro_batch_or(const Hparams& hparams) const;
};

}  // namespace monomorph::train
