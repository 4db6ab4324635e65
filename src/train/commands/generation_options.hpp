#pragma once
#include "train/commands/checkpoint_options.hpp"
#include "train/inference/sampling_choices.hpp"

#include <monomorph/train/inference/generate.hpp>

namespace monomorph::train {

/// How texts are made, for each command that makes some.
struct GenerationOptions : CheckpointOptions {
  GenerationSettings settings;
  SamplingChoices sampling;  ///< where they say nothing, the model's makers do
  std::optional<std::int64_t> max_tokens,
      usual_max_tokens = 200;  ///< unless given; absent: as many as there is room for
  bool greedy = false, ignores_stop_ids = false;
  std::vector<std::string> logit_bias, more_stop_ids;
  void add_to(CLI::App& app);
  /// As told, with what the tokeniser says.   @param of_model how its makers want texts drawn
  /// @param folder of the tokeniser, with the files that name stop ids
  /// @param turn_end as data::turn_end has it   @throws UsageError [RUN-29], [RUN-31]
  GenerationSettings settings_with(const data::Tokenizer& loaded, const SamplingChoices& of_model,
                                   const std::string& folder, std::optional<std::int32_t> turn_end) const;
};

}  // namespace monomorph::train
