#include "train/weights/export_adapters.hpp"

#include "core/json_text.hpp"
#include "core/new_files.hpp"
#include "train/describe/recipe_facts.hpp"
#include "train/weights/adapter_folder.hpp"
#include "train/weights/checkpoint_weights.hpp"
#include "train/weights/file_dtype.hpp"
#include "train/weights/stream_elements.hpp"
#include "train/weights/written_numbers.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/counter_names.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

namespace monomorph::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// @throws UsageError [WEIGHTS-06]
void check_holds_no_adapters(const std::string& folder) {
  for (const std::string_view name : {adapter_config_name, adapter_weights_name})
    if (fs::exists(fmt::format("{}/{}", folder, name)))
      throw UsageError("WEIGHTS-06", fmt::format("{} has adapters already, to which {} belongs; name another folder",
                                                 in_quotes(folder), name));
}

/// peft's format of adapters has no place for what else a recipe trains.   @throws UsageError [ADAPTER-07]
void check_that_adapters_alone_are_trained(const RecipeProgram& recipe) {
  if (const std::string beside = trained_beside_adapters(recipe); !beside.empty())
    throw UsageError("ADAPTER-07",
                     fmt::format("{} trains {} beside its adapters, which would be lost; leave out --adapter, so that "
                                 "the whole model is exported, with the adapters merged into it",
                                 recipe.name, beside));
}

/// What a run began with and still has but for its adapters: a folder or another checkpoint; empty if that can't be
/// told.
std::string base_of(const runtime::CheckpointMetadata& metadata) {
  const json hparams = parsed_json(metadata.hyperparameters);
  const bool has_weights = hparams.is_object() && hparams.contains("weights") && hparams["weights"].is_object();
  if (!has_weights) return "";
  const json& weights = hparams["weights"];
  for (const char* const rows : {"vocabulary", "positions"})
    if (weights.value(rows, json("must_match")) != "must_match") return "";  // it may have other tables
  const json from = weights.value("from", json());
  return from.is_string() ? from.get<std::string>() : "";
}

/// Whether training is known to have left all but its adapters as it was. Of checkpoints of earlier versions that is
/// known of LowRank alone, as the facts of the others leave out what lies within Nf4Base.
bool trained_adapters_alone(const runtime::CheckpointMetadata& metadata) {
  const auto says = [&](std::string_view fact, std::string_view value) {
    const auto found = metadata.recipe_facts.find(std::string(fact));
    return found != metadata.recipe_facts.end() && found->second == value;
  };
  if (metadata.recipe_facts.contains(std::string(beside_adapters_fact)))
    return says(beside_adapters_fact, nothing_beside_adapters);
  return says("finetuning", "monomorph::finetuning::LowRank");
}

/// Whether an import made it, which begins with a folder, wherever that is by now.
bool is_imported(const runtime::CheckpointMetadata& metadata) {
  return metadata.step == 0 && metadata.counters.contains(runtime::weights_alone_counter);
}

/// The folder of the model that a checkpoint's adapters belong to, which was imported by it or by those that it began
/// with; empty if there is none, as one of them has trained more, or that can no longer be told, as one is gone.
std::string imported_from(std::string checkpoint) try {
  std::set<std::string> seen;
  while (seen.insert(checkpoint).second) {
    const auto metadata = runtime::read_checkpoint_metadata(checkpoint);
    std::string from = base_of(metadata);
    if (from.empty() || is_imported(metadata)) return from;
    if (!trained_adapters_alone(metadata)) return "";
    if (is_model_folder(from)) return from;
    checkpoint = runtime::find_checkpoint(from);
  }
  return "";
} catch (const Error&) {
  return "";
}

/// By it peft chooses the class that holds the model: that for texts asks a model how it goes on, which an encoder does
/// not know, and for masked tokens there is none.
json task_of(const Family& family) {
  if (family.base.has_masked_head) return json();
  return family.base.output == ModelOutput::embeddings ? "FEATURE_EXTRACTION" : "CAUSAL_LM";
}

/// peft's class for an encoder with a head for masked tokens has no name of its own: it must be told the model's.
json auto_mapping(const Family& family) {
  if (!family.base.has_masked_head) return json();
  return {{"base_model_class", family.architecture},
          {"parent_library", fmt::format("transformers.models.{0}.modeling_{0}", family.model_type)}};
}

void write_config(const std::string& path, const LowRankSpec& spec, const Family& family,
                  const std::vector<PlacedAdapter>& adapters, const std::string& base) {
  const AdapterRanks ranks = ranks_by_target(family, adapters);
  json config = adapter_config(spec, ranks);
  config["task_type"] = task_of(family);
  config["auto_mapping"] = auto_mapping(family);
  config["base_model_name_or_path"] = base.empty() ? json() : json(base);
  config["lora_dropout"] = spec.dropout.value;
  for (const auto& [target, rank] : ranks) config["target_modules"].push_back(target);
  config["fan_in_fan_out"] = std::ranges::any_of(adapters, &PlacedAdapter::transposed);
  config["inference_mode"] = true;
  AtomicFile file(path);
  file.write(config.dump(2) + "\n");
  file.commit();
}

/// Contiguous.
View read_whole(WeightsSource& weights, const CanonicalTensor& tensor, DType dtype, std::vector<std::byte>& buffer) {
  const View values = sized(buffer, dtype, {1, tensor.shape.elements()});
  weights.read(tensor.name, 0, values);
  return values.reshaped(tensor.shape);
}

/// Adapters that came from one of peft's have one A until they are trained.
bool share_a(WeightsSource& weights, const std::vector<PlacedAdapter>& shared) {
  std::vector<std::byte> first, other;
  return std::ranges::all_of(shared, [&](const PlacedAdapter& adapter) {
    const std::vector<AdapterBlock>& blocks = adapter.blocks;
    if (blocks.size() == 1 || blocks[1].first_row != blocks[0].first_row) return true;  // alone, or B
    read_whole(weights, blocks[0].tensor, DType::fp64, first);
    return std::all_of(blocks.begin() + 1, blocks.end(), [&](const AdapterBlock& block) {
      read_whole(weights, block.tensor, DType::fp64, other);
      return other == first;
    });
  });
}

/// As one matrix of peft's: small, beside the weights.
std::vector<std::byte> bytes_of(const PlacedAdapter& adapter, WeightsSource& weights, DType dtype,
                                WrittenNumbers& written) {
  std::vector<std::byte> bytes, of_block;
  const View matrix = sized(bytes, dtype, adapter.shape);  // zeros
  for (const AdapterBlock& block : adapter.blocks) {
    const auto& [rows, cols] = block.tensor.shape;
    const View values = read_whole(weights, block.tensor, dtype, of_block);
    written.count(block.tensor.name, values, [&, name = block.tensor.name](View numbers) {
      weights.read(name, 0, numbers.reshaped({1, numbers.elements()}));
    });
    cpu::copy(cpu::Queue{}, values, matrix.rows(block.first_row, rows).columns(block.first_col, cols));
  }
  return bytes;
}

/// "c_attn of rank 6" where that is not the recipe's.
std::string targets_text(const AdapterRanks& ranks, std::int64_t usual) {
  std::vector<std::string> targets;
  for (const auto& [target, rank] : ranks)
    targets.push_back(rank == usual ? target : fmt::format("{} of rank {}", target, rank));
  return fmt::format("{}", fmt::join(targets, ", "));
}

}  // namespace

std::string export_adapters(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& folder,
                            DType dtype, const std::function<void(std::string_view)>& warn) {
  const LowRankSpec& spec = adapters_of(recipe);
  check_that_adapters_alone_are_trained(recipe);
  const Family& family = family_computing(recipe);
  CheckpointWeights weights(checkpoint, recipe);
  std::vector<PlacedAdapter> adapters = placed_adapters(family, recipe, JoinedAdapters::shared);
  if (!share_a(weights, adapters)) adapters = placed_adapters(family, recipe, JoinedAdapters::stacked);
  NewFiles made(folder);
  check_holds_no_adapters(folder);
  WrittenNumbers written;
  std::vector<runtime::TensorToWrite> to_write;
  for (const PlacedAdapter& adapter : adapters)
    to_write.push_back(
        {.name = adapter.name,
         .dtype = file_dtype(dtype),
         .shape = {adapter.shape.rows, adapter.shape.cols},
         .give = [&](const runtime::ByteSink& sink) { sink(bytes_of(adapter, weights, dtype, written)); }});
  runtime::write_safetensors(fmt::format("{}/{}", made.place(), adapter_weights_name), to_write, {{"format", "pt"}});
  write_config(fmt::format("{}/{}", made.place(), adapter_config_name), spec, family, adapters,
               imported_from(checkpoint));
  check_holds_no_adapters(folder);  // of another export, which has ended meanwhile
  made.keep(adapter_config_name);
  for (const std::string& line : written.warnings(checkpoint)) warn(line);
  return fmt::format("{}: adapters of rank {} for {}, in {}, as peft has them", folder, spec.rank.value,
                     targets_text(ranks_by_target(family, adapters), spec.rank), name_of(dtype));
}

}  // namespace monomorph::train
