#include "train/weights/adapter_folder.hpp"

#include "core/folder_files.hpp"
#include "train/weights/adapter_config.hpp"
#include "train/weights/adapter_places.hpp"
#include "train/weights/checkpoint_weights.hpp"
#include "train/weights/file_dtype.hpp"
#include "train/weights/read_converted.hpp"
#include "train/weights/stream_elements.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/counter_names.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>
#include <monomorph/spec/low_rank_spec.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <set>

namespace monomorph::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view config_name = "adapter_config.json", weights_name = "adapter_model.safetensors";

const LowRankSpec& adapters_of(const RecipeProgram& recipe) {
  if (recipe.low_rank == nullptr)
    throw UsageError("ADAPTER-04", fmt::format("{} has no adapters; give it `finetuning::LowRank`, or leave out "
                                               "--adapter",
                                               recipe.name));
  return *recipe.low_rank;
}

/// @throws UsageError [WEIGHTS-06]
void create_without_adapters(const std::string& folder) {
  create_folder(folder);
  for (const std::string_view name : {config_name, weights_name})
    if (fs::exists(fmt::format("{}/{}", folder, name)))
      throw UsageError("WEIGHTS-06", fmt::format("{} has adapters already, to which {} belongs; name another folder",
                                                 in_quotes(folder), name));
}

/// What a run began with: a folder or another checkpoint; empty if with neither.
std::string began_with(const runtime::CheckpointMetadata& metadata) {
  const json hparams = json::parse(metadata.hyperparameters, nullptr, /*allow_exceptions=*/false);
  const bool has_weights = hparams.is_object() && hparams.contains("weights") && hparams["weights"].is_object();
  const json from = has_weights ? hparams["weights"].value("from", json()) : json();
  return from.is_string() ? from.get<std::string>() : "";
}

/// Whether an import made it, which begins with a folder, wherever that is by now.
bool is_imported(const runtime::CheckpointMetadata& metadata) {
  return metadata.step == 0 && metadata.counters.contains(runtime::weights_alone_counter);
}

/// The folder from which a checkpoint's weights were imported, by it or by those that it began with; empty if that can
/// no longer be told, as a checkpoint in between is gone or can't be read.
std::string imported_from(std::string checkpoint) try {
  std::set<std::string> seen;
  while (seen.insert(checkpoint).second) {
    const auto metadata = runtime::read_checkpoint_metadata(checkpoint);
    std::string from = began_with(metadata);
    if (from.empty() || is_imported(metadata) || is_model_folder(from)) return from;
    checkpoint = runtime::find_checkpoint(from);
  }
  return "";
} catch (const Error&) {
  return "";
}

/// By it peft chooses the class that holds the model: that for texts asks a model how it goes on, which an encoder does
/// not know.
std::string_view task_of(const RecipeProgram& recipe) {
  return recipe.output == ModelOutput::embeddings ? "FEATURE_EXTRACTION" : "CAUSAL_LM";
}

void write_config(const std::string& path, const LowRankSpec& spec, const Family& family, std::string_view task,
                  const std::vector<PlacedAdapter>& adapters, const std::string& base) {
  json config = adapter_config(spec);
  config["task_type"] = task;
  config["base_model_name_or_path"] = base.empty() ? json() : json(base);
  config["lora_dropout"] = spec.dropout.value;
  config["target_modules"] = target_modules(family, adapters);
  config["fan_in_fan_out"] = are_transposed(family, adapters);
  config["inference_mode"] = true;
  AtomicFile file(path);
  file.write(config.dump(2) + "\n");
  file.commit();
}

}  // namespace

std::string export_adapters(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& folder,
                            DType dtype) {
  const LowRankSpec& spec = adapters_of(recipe);
  const Family& family = family_for(recipe);
  const std::vector<PlacedAdapter> adapters = placed_adapters(family, recipe);
  CheckpointWeights weights(checkpoint, recipe);
  create_without_adapters(folder);
  std::vector<runtime::TensorToWrite> to_write;
  for (const PlacedAdapter& adapter : adapters) {
    const auto& [rows, cols] = adapter.tensor.shape;
    to_write.push_back({.name = adapter.name,
                        .dtype = file_dtype(dtype),
                        .shape = {rows, cols},
                        .give = [&](const runtime::ByteSink& sink) {
                          stream_elements(weights, adapter.tensor.name, 0, adapter.tensor.shape.elements(), dtype,
                                          sink);
                        }});
  }
  runtime::write_safetensors(fmt::format("{}/{}", folder, weights_name), to_write, {{"format", "pt"}});
  write_config(fmt::format("{}/{}", folder, config_name), spec, family, task_of(recipe), adapters,
               imported_from(checkpoint));
  return fmt::format("{}: adapters of rank {} for {}, in {}, as peft has them", folder, spec.rank.value,
                     fmt::join(target_modules(family, adapters), ", "), name_of(dtype));
}

AdapterFolder::AdapterFolder(const std::string& folder, const Family& family, const RecipeProgram& recipe)
    : folder_(folder),
      notes_(check_adapter_config(path_in(folder, config_name), adapters_of(recipe), recipe.name)),
      file_(runtime::SafetensorsFile::open(path_in(folder, weights_name))) {
  std::set<std::string> used;
  for (const PlacedAdapter& adapter : placed_adapters(family, recipe)) {
    const runtime::TensorEntry* const entry = file_.find(adapter.name);
    if (entry == nullptr) continue;  // whoever reads says what is missing
    used.insert(adapter.name);
    if (entry->shape.size() != 2 || !dtype_of(entry->dtype))
      throw UsageError("WEIGHTS-07", fmt::format("{} in {} must be a matrix of floating-point numbers; give other "
                                                 "adapters",
                                                 in_quotes(adapter.name), in_quotes(file_.path())));
    tensors_[adapter.tensor.name] = {entry, {entry->shape[0], entry->shape[1]}};
  }
  for (const runtime::TensorEntry& entry : file_.tensors())
    if (!used.contains(entry.name)) unused_.push_back(entry.name);
}

const Shape* AdapterFolder::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second.shape;
}

void AdapterFolder::read(const std::string& name, std::int64_t first, View to) {
  const runtime::TensorEntry& entry = *tensors_.at(name).entry;
  const DType dtype = *dtype_of(entry.dtype);
  read_converted(dtype, to, buffer_, [&](std::int64_t done, std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), file_.data(entry) + (first + done) * size_of(dtype), bytes.size());
  });
}

WeightsSource& AdaptedWeights::of(const std::string& name) const { return is_of_adapter(name) ? *adapters_ : *base_; }

std::vector<std::string> AdaptedWeights::unused() const {
  std::vector<std::string> names = base_->unused();
  for (std::string& name : adapters_->unused()) names.push_back(std::move(name));
  return names;
}

}  // namespace monomorph::train
