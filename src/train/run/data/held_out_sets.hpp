#pragma once
#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/inference/evaluation.hpp>

#include <string>
#include <vector>

namespace monomorph::train {

/// Held-out data, opened.
struct HeldOutSet {
  std::string name;  ///< empty: the only one, without a name
  data::EvaluationLoader loader;
};
using HeldOutSets = std::vector<HeldOutSet>;

/// What stands for a set in messages: the field or option that names it, and its name if it has one.
std::string field_of_set(const std::string& field, const std::string& name);

/// Whether an objective over sequences has the scores of its reference already.
enum class Reference { is_there, is_made };

/// @param field what names the paths, for messages
/// @throws UsageError what is wrong with a file
HeldOutSets open_held_out_sets(const RecipeProgram& recipe, const PolicyHparams& objective, const NamedPaths& paths,
                               const std::string& field, Reference reference = Reference::is_there);

/// Evaluates each; as evaluate().
std::vector<NamedEvaluation> evaluate_sets(const RecipeProgram& recipe, InferenceModel& model,
                                           Communicator& communicator, const HeldOutSets& sets,
                                           std::int64_t micro_batch, std::span<const std::int32_t> bytes_per_token,
                                           std::optional<std::int64_t> micro_batches);

}  // namespace monomorph::train
