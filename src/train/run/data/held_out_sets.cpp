#include "train/run/data/held_out_sets.hpp"

#include "core/as_usage_error.hpp"
#include "train/run/data/run_data.hpp"

namespace monomorph::train {

std::string field_of_set(const std::string& field, const std::string& name) {
  return name.empty() ? field : field + "." + name;
}

HeldOutSets open_held_out_sets(const RecipeProgram& recipe, const PolicyHparams& objective, const NamedPaths& paths,
                               const std::string& field, Reference reference) {
  HeldOutSets sets;
  data::BatchContents contents = batch_contents(recipe, objective);
  if (reference == Reference::is_made) contents.reference_scores = false;
  for (const auto& [name, path] : paths)
    as_usage_error(field_of_set(field, name), [&, &name = name, &path = path] {
      sets.push_back(
          {name, data::EvaluationLoader(path, recipe.model->context_length, recipe.model->vocab_size, contents)});
    });
  return sets;
}

std::vector<NamedEvaluation> evaluate_sets(const RecipeProgram& recipe, InferenceModel& model,
                                           Communicator& communicator, const HeldOutSets& sets,
                                           std::int64_t micro_batch, std::span<const std::int32_t> bytes_per_token,
                                           std::optional<std::int64_t> micro_batches) {
  std::vector<NamedEvaluation> results;
  for (const HeldOutSet& set : sets)
    results.push_back({set.name, evaluate(model, communicator, set.loader, micro_batch, recipe.model->context_length,
                                          bytes_per_token, micro_batches, recipe.objective)});
  return results;
}

}  // namespace monomorph::train
