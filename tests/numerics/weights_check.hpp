#pragma once
#include "numerics/exports_folder.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/hugging_face.hpp"
#include "support/training_program.hpp"
#include "train/run/weights/import_weights.hpp"
#include "train/run/weights/special_tokens.hpp"
#include "train/weights/export_folder.hpp"
#include "train/weights/load_weights.hpp"
#include "train/weights/model_folder.hpp"
#include "train/weights/special_token_ids.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <map>
#include <string>
#include <vector>

/// Folders that Hugging Face's transformers wrote (tests/fixtures/weights/README.md), loaded, saved, exported and
/// loaded again.
namespace monomorph::testing {

inline constexpr std::int64_t batch = 2;

inline std::string fixture(const std::string& name) { return MONOMORPH_SOURCE_DIR "/tests/fixtures/weights/" + name; }

/// A step of a recipe, and what it makes of a fixture's batch.
/// @tparam StepOf train::GeneratingStep<R> for who continues sequences
template <Recipe R, class StepOf = train::Step<R>> struct Model {
  static constexpr bool is_encoder = ModelKind<SpecOf<R>>::output == ModelOutput::embeddings;
  /// What the fixture has of transformers.
  static constexpr const char* outputs_name = is_encoder ? "hidden_states" : "logits";
  std::unique_ptr<Communicator> communicator = one_rank();
  StepOf step{*communicator, batch, 1};

  Values outputs(const std::string& name) {
    const auto expected = runtime::SafetensorsFile::open(fixture(name) + "/expected.safetensors");
    const std::vector<std::int32_t> ids = ids_of(expected, "input_ids");
    if constexpr (is_encoder)
      return hidden_states(ids);
    else
      return logits(ids);
  }

 private:
  /// Each row is one text.
  Values hidden_states(const std::vector<std::int32_t>& ids) {
    const std::vector<std::int32_t> first_text(ids.size());
    step.evaluate({ids.data(), first_text.data(), 0, first_text.data()});
    return values_of(step.state().activations.activations()[step.head().in_MD]);
  }
  Values logits(const std::vector<std::int32_t>& ids) {
    step.evaluate({ids.data(), ids.data(), 0});
    // A row for each token; behind the vocabulary are the ids that pad the table.
    const Values padded = values_of(step.state().activations.statistics()[step.head().logits_CV]);
    const std::size_t width = trunk_of<R>.padded_vocab(), vocabulary = trunk_of<R>.vocab_size;
    Values logits;
    for (std::size_t row = 0; row < ids.size(); ++row)
      logits.insert(logits.end(), &padded[row * width], &padded[row * width] + vocabulary);
    return logits;
  }
};

/// Every tensor of a folder: dtype, shape and bytes.
inline std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  const train::FolderTensors tensors(folder);
  for (const auto& [name, tensor] : tensors.all()) {
    std::string text(runtime::name_of(tensor.entry->dtype));
    for (const std::int64_t size : tensor.entry->shape) text += " " + std::to_string(size);
    text.append(reinterpret_cast<const char*>(tensor.file->data(*tensor.entry)),
                tensor.entry->end - tensor.entry->begin);
    contents[name] = text;
  }
  return contents;
}

/// No family of Hugging Face's can be the recipe, or this one can't, and the message names the feature.
inline void check_refused(const train::RecipeProgram& recipe, const std::string& feature,
                          const train::Family* asked = nullptr) {
  const std::string message = error_of([&] { train::family_for(recipe, asked); });
  CAPTURE(message);
  CHECK(message.starts_with("[WEIGHTS-01]"));
  CHECK(contains(message, feature));
}

/// What an import says but for the dropout that published models were trained with, and recipes of tests are not.
inline std::vector<std::string> without_dropout(std::vector<std::string> notes) {
  std::erase_if(notes, [](const std::string& note) { return contains(note, "model.dropout."); });
  return notes;
}

/// Import, load, save, export, and import again; the tensors are as they were unless they lie there in another way.
/// @param differs a fact in which the recipe may differ from the folder, and does; or none
/// @param is_as_exported whether the folder's tensors are those that an export has
template <Recipe R>
void check_travels(const std::string& name, const std::string& differs = "", bool is_as_exported = true) {
  const auto is_as_expected = [&](const std::vector<std::string>& notes) {
    if (differs.empty()) return notes.empty();
    return notes.size() == 1 && contains(notes.front(), differs);
  };
  const train::RecipeProgram recipe = training_program<R>();
  const train::FolderModel there = train::read_folder_model(fixture(name));
  const train::Family* const asked = &train::family_for(recipe) == there.family ? nullptr : there.family;
  const ExportsFolder folder(name);
  const Values expected =
      values_of(runtime::SafetensorsFile::open(fixture(name) + "/expected.safetensors"), Model<R>::outputs_name);

  // What a run starts from.
  Model<R> started;
  const auto opened = train::open_weights(fixture(name), recipe, train::facts_that_training_changes());
  CHECK(is_as_expected(opened.notes));
  train::check_tensors(*opened.source, recipe, {});
  CHECK(train::load_weights(*opened.source, {}, started.step).empty());
  const Values outputs = started.outputs(name);
  CHECK(relative_error(outputs, expected) < 1e-5);
  folder.keep_outputs("outputs", outputs);

  // An import is a checkpoint of the same weights.
  const auto imported = train::import_weights(recipe, fixture(name), folder / "imported");
  CHECK(is_as_expected(without_dropout(imported.notes)));
  CHECK(imported.notes.size() == opened.notes.size() + opened.notes_of_training.size());
  Model<R> restored;
  train::restore_run(imported.checkpoint, recipe, restored.step, false);
  CHECK(hash_of(restored.step.parameters()) == hash_of(started.step.parameters()));

  // An export of it has the same tensors, bit for bit, and says the same of the model, in one file or in many.
  const nlohmann::json special = train::SpecialTokens(folder / "imported", nullptr).of_config();
  train::export_folder(recipe, imported.checkpoint, folder / "exported", {.family = asked, .special_tokens = special});
  train::export_folder(recipe, imported.checkpoint, folder / "in_files",
                       {.bytes_per_file = 10'000, .family = asked, .special_tokens = special});
  if (is_as_exported) CHECK(contents_of(folder / "exported") == contents_of(fixture(name)));
  const nlohmann::json ids_there = train::special_token_ids(fixture(name)),
                       ids_here = train::special_token_ids(folder / "exported");
  for (const auto& [key, ids] : ids_there.items()) CHECK(ids_here.at(key) == ids);
  CHECK(contents_of(folder / "in_files") == contents_of(folder / "exported"));
  if (asked != nullptr) train::export_folder(recipe, imported.checkpoint, folder / "of_first_family", {});
  const auto again = train::import_weights(recipe, folder / "exported", folder / "imported_again");
  Model<R> restored_again;
  train::restore_run(again.checkpoint, recipe, restored_again.step, false);
  CHECK(hash_of(restored_again.step.parameters()) == hash_of(started.step.parameters()));
  train::FolderModel here = train::read_folder_model(folder / "exported");
  here.portable.embedding = there.portable.embedding;  // of which transformers says nothing
  CHECK(here.family == there.family);
  CHECK(train::facts_of(here.portable) == train::facts_of(there.portable));

  // In 16 bits, what is imported and exported again stays as it was first rounded.
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    const std::string rounded = folder / std::string(name_of(dtype));
    const train::ExportOptions how{.dtype = dtype, .family = asked, .special_tokens = special};
    train::export_folder(recipe, imported.checkpoint, rounded, how);
    const auto narrow = train::import_weights(recipe, rounded, rounded + "_imported");
    train::export_folder(recipe, narrow.checkpoint, rounded + "_again", how);
    CHECK(contents_of(rounded + "_again") == contents_of(rounded));
  }
}

}  // namespace monomorph::testing
