#include "train/describe/recipe_facts.hpp"
#include "train/weights/adapter_folder.hpp"
#include "train/weights/checkpoint_weights.hpp"
#include "train/weights/folder_weights.hpp"
#include "train/weights/layers_fact.hpp"
#include "train/weights/listed.hpp"
#include "train/weights/load_weights.hpp"
#include "train/weights/tensor_places.hpp"
#include "train/weights/training_facts.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace monomorph::train {
namespace {

constexpr std::string_view layers_fact = "layers";
/// Of layers, as far as lasting_layers lets it.
constexpr std::array<std::string_view, 10> changed_by_training{
    "mask",          "local.",        "attention",         "model.context_length",    "model.vocab_size",
    "model.rotary.", "model.pooling", "model.unit_length", "experts.capacity_factor", layers_fact};
constexpr std::array<std::string_view, 1> changed_by_import{"model.context_length"};

std::string note_of(const std::string& path, const std::string& difference) {
  return fmt::format("of the weights in {}, {}", path, difference);
}

/// Whether layers differ in nothing that weights are bound to.
bool same_lasting_layers(const ModelFacts& there, const ModelFacts& here) {
  const auto left = there.find(std::string(layers_fact)), right = here.find(std::string(layers_fact));
  return left != there.end() && right != here.end() && lasting_layers(left->second) == lasting_layers(right->second);
}

/// Compares what decides the function of two models.
/// @return notes   @throws UsageError [WEIGHTS-08]
std::vector<std::string> compared(const std::string& path, const ModelFacts& there, const RecipeProgram& recipe,
                                  const ModelFacts& here, std::span<const std::string_view> may_differ) {
  const std::vector<std::string> lines = differences(there, "there", here, "here");
  const bool same_layers = same_lasting_layers(there, here);
  std::vector<std::string> notes, refused;
  for (const std::string& line : lines) {
    const bool may = std::ranges::any_of(may_differ, [&](std::string_view name) {
      return line.starts_with(name) && (name != layers_fact || same_layers);
    });
    (may ? notes : refused).push_back(may ? note_of(path, line) : line);
  }
  if (!refused.empty())
    throw UsageError("WEIGHTS-08", fmt::format("the weights in {} are of another model than {}: {}; change the recipe, "
                                               "or give weights of its model",
                                               in_quotes(path), recipe.name, listed(std::move(refused))));
  return notes;
}

/// Of specs that were added to the language later, older checkpoints say nothing: their models are as by default.
template <DescribedSpec Spec> void add_later_facts(const std::string& prefix, const Spec& spec, ModelFacts& facts) {
  for_each_field(spec, [&](const std::string& name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const std::string of_field = prefix + name + ".";
    if constexpr (requires { Field::came_later; }) {
      std::vector<Fact> later;
      add_facts(of_field, field, later);
      for (Fact& fact : later) facts.emplace(std::move(fact.name), std::move(fact.value));
    } else if constexpr (DescribedSpec<Field>) {
      add_later_facts(of_field, field, facts);
    }
  });
}

/// What decides the function of any recipe's model, from the facts that checkpoints keep of their recipe.
ModelFacts function_facts(ModelFacts recipe_facts) {
  add_later_facts("model.", DecoderSpec{}, recipe_facts);
  ModelFacts facts;
  for (const auto& [name, value] : recipe_facts)
    if (name == layers_fact || name == "attention" || decides_function(name, recipe_facts)) facts.emplace(name, value);
  return facts;
}

/// @param there of the source
std::vector<std::string> notes_of_training(const std::string& path, const ModelFacts& there,
                                           const RecipeProgram& recipe) {
  std::vector<std::string> notes = training_differences(there, training_facts(recipe_facts(recipe)));
  for (std::string& note : notes) note = note_of(path, note);
  return notes;
}

OpenedWeights open_checkpoint(const std::string& checkpoint, const RecipeProgram& recipe,
                              std::span<const std::string_view> may_differ) {
  const auto metadata = runtime::read_checkpoint_metadata(checkpoint);
  std::vector<std::string> notes = compared(checkpoint, function_facts(metadata.recipe_facts), recipe,
                                            function_facts(recipe_facts(recipe)), may_differ);
  return {std::make_unique<CheckpointWeights>(checkpoint, recipe), std::move(notes),
          notes_of_training(checkpoint, training_facts(metadata.recipe_facts), recipe)};
}

/// What is done there with texts before the model sees them, which is no matter of weights.
void add_notes(const std::string& path, const SentenceModules& there, const RecipeProgram& recipe,
               std::vector<std::string>& notes) {
  const std::int64_t context = recipe.model->context_length;
  if (there.longest_text && *there.longest_text < context)
    notes.push_back(
        fmt::format("sentence-transformers cuts texts for the model in {} to {} tokens, and they have up to "
                    "{} here",
                    path, *there.longest_text, context));
  if (!there.prompt.empty())
    notes.push_back(
        fmt::format("sentence-transformers puts {} before texts for the model in {}, which is to be in the "
                    "texts here",
                    in_quotes(there.prompt), path));
}

OpenedWeights open_folder(const std::string& path, const RecipeProgram& recipe,
                          std::span<const std::string_view> may_differ) {
  PortableModel here = portable_model(recipe);
  FolderModel model = read_folder_model(path, here.has_masked_head);
  if (!model.sentence) here.embedding.reset();  // the files say nothing of it
  std::vector<std::string> notes = compared(path, facts_of(model.portable), recipe, facts_of(here), may_differ);
  if (model.sentence) add_notes(path, *model.sentence, recipe, notes);
  std::vector<std::string> of_training = notes_of_training(path, model.training, recipe);
  auto weights = std::make_unique<FolderWeights>(std::move(model), recipe);
  if (auto note = weights->note_of_other_heads()) notes.push_back(*std::move(note));
  if (has_adapters(path))
    notes.push_back(
        fmt::format("the adapters that lie beside the model in {} are read by `import --adapter` alone", path));
  return {std::move(weights), std::move(notes), std::move(of_training)};
}

std::string shape_text(Shape shape) {
  return shape.rows == 1 ? fmt::format("[{}]", shape.cols) : fmt::format("[{}, {}]", shape.rows, shape.cols);
}

bool may_have_other_rows(const std::string& name, const WeightsHparams& choices, std::int64_t there,
                         std::int64_t here) {
  if (is_of_vocabulary(name)) return choices.vocabulary.value != VocabularyRows::must_match;
  if (name != position_table) return false;
  return choices.positions.value == PositionRows::interpolated ||
         (choices.positions.value == PositionRows::cut && there >= here);
}

/// What is wrong with a tensor that is there; empty if nothing.
/// @param said as of WeightsSource::rows_said
std::string wrong_shape(const CanonicalTensor& tensor, Shape shape_there, std::optional<std::int64_t> said,
                        const WeightsHparams& choices) {
  const Shape here = shape_by_rows(tensor.name, tensor.shape), there = shape_by_rows(tensor.name, shape_there);
  const bool fits = there.cols == here.cols &&
                    (there.rows == here.rows || may_have_other_rows(tensor.name, choices, there.rows, here.rows));
  if (!fits)
    return fmt::format("{} is {} and must be {}", tensor.name, shape_text(shape_there), shape_text(tensor.shape));
  if (there.elements() == 0) return fmt::format("{} is {} and has no elements", tensor.name, shape_text(shape_there));
  if (said && *said != there.rows)
    return fmt::format("{} is {} and must have {} rows, as is said there of the model", tensor.name,
                       shape_text(shape_there), *said);
  return "";
}

}  // namespace

std::span<const std::string_view> facts_that_training_changes() { return changed_by_training; }
std::span<const std::string_view> facts_that_import_changes() { return changed_by_import; }

std::string find_weights(const std::string& path) {
  if (is_model_folder(path)) return path;
  if (has_adapters(path))
    throw UsageError("ADAPTER-08", fmt::format("{} has adapters and no model; give a checkpoint that `import MODEL "
                                               "--adapter {} --output CHECKPOINT` makes of both",
                                               in_quotes(path), path));
  try {
    return runtime::find_checkpoint(path);
  } catch (const UsageError& error) {
    if (error.id() != ErrorId("RUN-03")) throw;
    throw UsageError("RUN-03", fmt::format("{}, or a folder of Hugging Face's with its config.json", error.text()));
  }
}

OpenedWeights open_weights(const std::string& path, const RecipeProgram& recipe,
                           std::span<const std::string_view> may_differ) {
  return is_model_folder(path) ? open_folder(path, recipe, may_differ)
                               : open_checkpoint(find_weights(path), recipe, may_differ);
}

bool begins_adapters(const WeightsSource& source, const RecipeProgram& recipe) {
  return recipe.low_rank != nullptr && std::ranges::none_of(canonical_tensors(recipe), [&](const auto& tensor) {
           return is_of_adapter(tensor.name) && source.find(tensor.name) != nullptr;
         });
}

void check_tensors(const WeightsSource& source, const RecipeProgram& recipe, const WeightsHparams& choices,
                   std::string_view advice) {
  std::vector<std::string> wrong;
  for (const CanonicalTensor& tensor :
       begins_adapters(source, recipe) ? base_tensors(recipe) : canonical_tensors(recipe)) {
    const Shape* const found = source.find(tensor.name);
    if (found == nullptr)
      wrong.push_back(tensor.name + " is missing");
    else if (std::string text = wrong_shape(tensor, *found, source.rows_said(tensor.name), choices); !text.empty())
      wrong.push_back(std::move(text));
  }
  const std::vector<std::string> unused = source.unused();
  for (const std::string& name : unused) wrong.push_back(in_quotes(name) + " is not used");
  if (wrong.empty()) return;
  if (recipe.low_rank == nullptr && std::ranges::any_of(unused, is_of_adapter))
    throw UsageError("WEIGHTS-09", fmt::format("the weights in {} have adapters, and {} has none: {}; give the folder "
                                               "that `export` makes of them, into which it merges adapters",
                                               in_quotes(source.where()), recipe.name, listed(std::move(wrong))));
  throw UsageError("WEIGHTS-09", fmt::format("the tensors in {} are not those of {}: {}; {}", in_quotes(source.where()),
                                             recipe.name, listed(std::move(wrong)), advice));
}

}  // namespace monomorph::train
