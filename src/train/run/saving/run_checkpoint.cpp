#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include "core/json_text.hpp"
#include "train/describe/recipe_facts.hpp"
#include "train/run/saving/best_counter.hpp"
#include "train/run/saving/run_metadata.hpp"
#include "train/run/saving/saved_state.hpp"
#include "train/run/saving/state_parts.hpp"
#include "train/weights/averaged_name.hpp"
#include "train/weights/file_dtype.hpp"
#include "train/weights/held_pages.hpp"
#include "train/weights/read_converted.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/train/describe/describe.hpp>
#include <monomorph/train/step/host_pieces.hpp>
#include <monomorph/train/step/quantized_matrix.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::train {
namespace {

const std::string train_file_prefix = "train_file ";  // of the names of counters

using Facts = std::map<std::string, std::string>;
/// A fact that one of the two lacks counts as equal.
bool same_fact(const std::string& name, const Facts& there, const Facts& here) {
  const auto left = there.find(name), right = here.find(name);
  return left == there.end() || right == here.end() || left->second == right->second;
}

/// What a checkpoint's run was told. Sections of policies that leave the state as it is are left out if the recipe has
/// others now, to which their fields mean nothing.
std::string told(const runtime::CheckpointMetadata& metadata, const RecipeProgram& recipe) {
  nlohmann::json told = parsed_json(metadata.hyperparameters);
  if (!told.is_object()) return metadata.hyperparameters;  // for parse_hparams to say what is wrong
  const Facts here = recipe_facts(recipe), &there = metadata.recipe_facts;
  for (const char* policy : {"schedule", "observer"})
    if (!there.contains(policy) || !same_fact(policy, there, here)) told.erase(policy);
  return told.dump();
}

Hparams saved_hparams(const runtime::CheckpointMetadata& metadata, const std::string& checkpoint,
                      const RecipeProgram& recipe) {
  return parse_hparams(told(metadata, recipe), checkpoint + "/metadata.json", default_hparams(recipe.hparams));
}

std::span<std::byte> bytes_of(const View& view) { return {view.data, static_cast<std::size_t>(view.bytes())}; }

/// Reads tensors of a checkpoint to where a model has them, in bounded pieces, so that little of its files lies beside
/// them.
class TensorLoader {
 public:
  TensorLoader(runtime::CheckpointReader& checkpoint, HostAccess& there) : checkpoint_(checkpoint), pieces_(there) {}

  /// @param name in the checkpoint   @param saved the dtype that it has there
  void load(const std::string& name, DType saved, const StateTensor& tensor) {
    const auto* const found = checkpoint_.find(name);
    if (found == nullptr || found->dtype != file_dtype(saved) || found->shape != file_shape(tensor.shape))
      throw Error("RUN-04",
                  fmt::format("{}: tensor {} is not there with the recipe's dtype and shape; use a checkpoint of this "
                              "recipe",
                              in_quotes(checkpoint_.path()), name));
    pieces_.write(tensor.view, [&](const HostPieces::Piece& piece) {
      const std::int64_t first = tensor.first + piece.first;
      const auto read = [&](std::int64_t done, std::span<std::byte> bytes) {
        checkpoint_.read(name, tensor.region, first + done, bytes);
        held_.add(bytes.size(), [this] { checkpoint_.release(); });
      };
      if (saved != piece.view.dtype) return read_converted(saved, piece.view, buffer_, read);
      const auto width = static_cast<std::size_t>(size_of(saved));
      in_bounded_pieces(piece.view.elements(), [&](std::int64_t done, std::int64_t n) {
        read(done,
             bytes_of(piece.view).subspan(static_cast<std::size_t>(done) * width, static_cast<std::size_t>(n) * width));
      });
    });
  }

 private:
  runtime::CheckpointReader& checkpoint_;
  HostPieces pieces_;
  std::vector<std::byte> buffer_;
  HeldPages held_;
};

}  // namespace

runtime::Retention retention_of(const RecipeProgram& recipe, const Hparams& hparams) {
  runtime::Retention retention{.every = hparams.checkpoint.keep_every.value, .best = best_counter(recipe, hparams)};
  if (const OptionalCount keep = hparams.checkpoint.keep.value) retention.latest = static_cast<int>(*keep);
  return retention;
}

runtime::CheckpointMetadata checkpoint_metadata(const RecipeProgram& recipe, const Hparams& hparams,
                                                const RunState& state, const TrainFiles& train_files, int ranks,
                                                std::optional<double> evaluation) {
  runtime::CheckpointMetadata metadata = run_metadata(recipe, hparams, state, ranks);
  for (const auto& [path, hash] : train_files) metadata.counters[train_file_prefix + path] = hash;
  if (const auto best = best_counter(recipe, hparams); best && evaluation) metadata.counters[best->name] = *evaluation;
  return metadata;
}

std::vector<std::string> save_run(const std::string& folder, const runtime::Retention& retention,
                                  const RecipeProgram& recipe, const Hparams& hparams, const RunState& state,
                                  const TrainFiles& train_files, TrainingStep& step, Communicator& communicator,
                                  const std::function<void()>& before_completing, std::optional<double> evaluation) {
  HostPieces pieces(step);
  std::vector<runtime::PartToSave> parts;
  for (const StateTensor& tensor : all_state(step, true)) {
    parts.push_back(part_of(tensor));
    parts.back().tensor.give = [&pieces, view = tensor.view](const runtime::ByteSink& sink) {
      pieces.read(view, [&](const HostPieces::Piece& piece) { sink(bytes_of(piece.view)); });
    };
  }
  return runtime::save_checkpoint(folder,
                                  checkpoint_metadata(recipe, hparams, state, train_files, communicator.size(),
                                                      evaluation),
                                  communicator, parts, retention, before_completing)
      .warnings;
}

std::optional<std::string> check_recipe(const std::string& checkpoint, const RecipeProgram& recipe) {
  const auto metadata = runtime::read_checkpoint_metadata(checkpoint);
  if (metadata.state_fingerprint != fingerprint_text(recipe.state_fingerprint)) {
    const std::string differing = differing_facts(metadata.recipe_facts, recipe, true);
    throw UsageError(
        "RUN-04", fmt::format("{} was saved by a recipe whose state differs from that of {}: {}; use the program that "
                              "saved it",
                              in_quotes(checkpoint), recipe.name,
                              differing.empty() ? "metadata.json does not tell in what" : differing));
  }
  saved_state(metadata, checkpoint, recipe.model->context_length);
  const std::string compatible = differing_facts(metadata.recipe_facts, recipe, false);
  if (compatible.empty()) return std::nullopt;
  return "the checkpoint's recipe differs in what leaves the state as it is: " + compatible;
}

void check_resumable(const std::string& checkpoint) {
  if (!runtime::read_checkpoint_metadata(checkpoint).counters.contains(std::string(weights_alone))) return;
  throw UsageError("WEIGHTS-10", fmt::format("{} holds weights alone, so no run can be resumed from it; start one with "
                                             "weights.from, in another run.output_dir",
                                             in_quotes(checkpoint)));
}

RestoredRun restore_run(const std::string& checkpoint, const RecipeProgram& recipe, TrainingStep& step,
                        bool optimizer_state, const std::optional<runtime::BestCounter>& best) {
  check_recipe(checkpoint, recipe);
  runtime::CheckpointReader reader(checkpoint);
  const auto& metadata = reader.metadata();
  TensorLoader loader(reader, step);
  for (const StateTensor& tensor : all_state(step, optimizer_state))
    loader.load(optimizer_state ? tensor.name : name_for_use(reader, tensor.name), tensor.view.dtype, tensor);
  step.parameters_changed();
  return {.state = saved_state(metadata, checkpoint, recipe.model->context_length, best),
          .same_precision = same_fact("precision", metadata.recipe_facts, recipe_facts(recipe)),
          .hparams = saved_hparams(metadata, checkpoint, recipe)};
}

void restore_model(const std::string& checkpoint, const RecipeProgram& recipe, InferenceModel& model) {
  check_recipe(checkpoint, recipe);
  runtime::CheckpointReader reader(checkpoint);
  TensorLoader loader(reader, model);
  for (const StateTensor& tensor : model.parameters())
    loader.load(name_for_use(reader, tensor.name), recipe.master_dtype, tensor);
  for (const QuantizedMatrix& matrix : model.quantized())
    for (const StateTensor& part : held_parts(matrix)) loader.load(part.name, part.view.dtype, part);
  model.parameters_changed();
}

TrainFiles checkpoint_train_files(const std::string& checkpoint) {
  TrainFiles files;
  for (const auto& [name, value] : runtime::read_checkpoint_metadata(checkpoint).counters)
    if (const auto* const hash = std::get_if<std::int64_t>(&value);
        hash != nullptr && name.starts_with(train_file_prefix))
      files[name.substr(train_file_prefix.size())] = *hash;
  return files;
}

Hparams checkpoint_hparams(const std::string& checkpoint, const RecipeProgram& recipe) {
  return saved_hparams(runtime::read_checkpoint_metadata(checkpoint), checkpoint, recipe);
}

}  // namespace monomorph::train
