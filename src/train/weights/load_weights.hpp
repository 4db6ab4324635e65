#pragma once
#include "train/weights/non_finite.hpp"
#include "train/weights/weights_source.hpp"

#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

struct OpenedWeights {
  std::unique_ptr<WeightsSource> source;
  std::vector<std::string> notes;  ///< one line for each fact in which the models differ and may
  /// The same of what decides how a model is trained, for whoever trains it (training_facts.hpp).
  std::vector<std::string> notes_of_training{};
};

/// Facts of the model, by the beginnings of their names, that a run which starts from weights may have changed.
std::span<const std::string_view> facts_that_training_changes();
/// Of weights that are taken as they are: the context alone, which no tensor depends on where positions are not
/// learned.
std::span<const std::string_view> facts_that_import_changes();

/// The path, if it is of a folder of Hugging Face's, or else the checkpoint that find_checkpoint takes.
/// @throws UsageError [RUN-03] there is neither; [ADAPTER-08] there are adapters alone
std::string find_weights(const std::string& path);
/// Opens what find_weights finds, and compares its model with the recipe's.
/// @param may_differ beginnings of names of facts
/// @throws UsageError [WEIGHTS-08] the models differ in what may not; [RUN-03] there is neither; as read_folder_model,
///   FolderWeights, CheckpointWeights
OpenedWeights open_weights(const std::string& path, const RecipeProgram& recipe,
                           std::span<const std::string_view> may_differ);

/// Whether the recipe has adapters and the source has none of them: they keep their first values.
bool begins_adapters(const WeightsSource& source, const RecipeProgram& recipe);

/// What to do about tensors that a recipe's model does not have so.
inline constexpr std::string_view advice_for_weights =
    "give weights of the recipe's model, or set weights.vocabulary or weights.positions where rows differ";
/// Compares all tensors before any is read. Adapters are all there, or none of them is.
/// @param advice the end of the message
/// @throws UsageError [WEIGHTS-09] tensors are missing, unused, without elements, or of another shape than `choices`
///   let them have, or than what stands beside them says: all of them
void check_tensors(const WeightsSource& source, const RecipeProgram& recipe, const WeightsHparams& choices,
                   std::string_view advice = advice_for_weights);

/// Puts weights in the place of tensors, as below.   @param there what reaches their memory
NonFiniteNumbers load_weights(WeightsSource& source, const WeightsHparams& choices,
                              const std::vector<StateTensor>& tensors, HostAccess& there);
/// Puts weights in the place of a step's parameters. Each rank reads what it holds, in bounded pieces. Rows and
/// adapters that the source does not have keep what initialisation gave them, unless `choices` say otherwise.
NonFiniteNumbers load_weights(WeightsSource& source, const WeightsHparams& choices, TrainingStep& step);

}  // namespace monomorph::train
