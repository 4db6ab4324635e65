#pragma once
#include "train/commands/checkpoint_options.hpp"

#include <monomorph/data/loading/evaluation_loader.hpp>

#include <optional>

namespace monomorph::train {

/// The options of commands that measure a checkpoint on held-out data.
struct HeldOutOptions : CheckpointOptions {
  std::string data;
  std::optional<std::int64_t> micro_batch;
  /// @param data_help what --data names   @param unit what --micro-batch counts
  void add_to(CLI::App& app, const std::string& data_help, const std::string& unit);
  /// @throws UsageError [RUN-12] neither the options nor the run name a file; what is wrong with it
  data::EvaluationLoader loader(const RecipeProgram& recipe, const Hparams& hparams) const;
  std::int64_t micro_batch_or(const Hparams& hparams) const;
};

}  // namespace monomorph::train
