#pragma once
#include "support/temporary_folder.hpp"
#include "train/weights/adapter_folder.hpp"
#include "train/weights/export_folder.hpp"
#include "weights_check.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>

/// Adapters that Hugging Face's peft wrote (tests/fixtures/adapters/README.md), imported, merged, exported and imported
/// again.
namespace monomorph::testing {

template <class R, LowRankSpec spec> struct Adapted : R { using finetuning = finetuning::LowRank<spec>; };

inline std::string adapters(const std::string& name) { return MONOMORPH_SOURCE_DIR "/tests/fixtures/adapters/" + name; }

inline Values expected_of_adapters(const std::string& name, const std::string& tensor) {
  return values_of(runtime::SafetensorsFile::open(adapters(name) + "/expected.safetensors"), tensor);
}

/// What a file of adapters holds.
inline std::map<std::string, std::string> tensors_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  const auto file = runtime::SafetensorsFile::open(folder + "/adapter_model.safetensors");
  for (const runtime::TensorEntry& entry : file.tensors())
    contents[entry.name] = std::string(reinterpret_cast<const char*>(file.data(entry)), entry.end - entry.begin);
  return contents;
}

/// The config of adapters that are exported says what peft's says, and where the model lies that was imported.
inline void check_adapter_config_travels(const std::string& exported, const std::string& name) {
  using Json = nlohmann::json;
  const Json here = Json::parse(read_bytes(exported + "/adapter_config.json")),
             there = Json::parse(read_bytes(adapters(name) + "/adapter_config.json"));
  for (const auto& [key, value] : here.items()) {
    CAPTURE(key);
    if (key == "base_model_name_or_path")
      CHECK(value == fixture(name));
    else if (key == "target_modules")
      CHECK(value.template get<std::set<std::string>>() == there.at(key).template get<std::set<std::string>>());
    else
      CHECK(value == there.at(key));
  }
}

/// Logits of the batch of a fixture with a checkpoint's weights.
template <Recipe R> Values logits_with(const std::string& checkpoint, const std::string& name) {
  Model<R> model;
  train::restore_run(checkpoint, detail::program_of<R>(), model.step, false);
  return model.outputs("../adapters/" + name);
}

/// Imports a model and its adapters, merges them, and exports them and imports them again.
template <Recipe R, Recipe Base> void check_travels_adapted(const std::string& name) {
  const train::RecipeProgram recipe = detail::program_of<R>(), base = detail::program_of<Base>();
  const ExportsFolder folder("adapters/" + name);
  const auto imported = train::import_weights(recipe, fixture(name), folder / "imported", adapters(name));
  CHECK(imported.notes.empty());
  const Values logits = logits_with<R>(imported.checkpoint, name);
  CHECK(relative_error(logits, expected_of_adapters(name, "logits")) < 1e-5);
  folder.keep_outputs("outputs", logits);

  CHECK(contains(train::export_folder(recipe, imported.checkpoint, folder / "merged", {}), "adapters merged"));
  const auto merged = train::import_weights(base, folder / "merged", folder / "merged_imported");
  const Values merged_logits = logits_with<Base>(merged.checkpoint, name);
  CHECK(relative_error(merged_logits, expected_of_adapters(name, "merged_logits")) < 1e-5);

  train::export_adapters(recipe, imported.checkpoint, folder / "adapters", DType::fp32);
  CHECK(tensors_of(folder / "adapters") == tensors_of(adapters(name)));
  check_adapter_config_travels(folder / "adapters", name);
  const auto again = train::import_weights(recipe, fixture(name), folder / "again", folder / "adapters");
  CHECK(logits_with<R>(again.checkpoint, name) == logits);
}

}  // namespace monomorph::testing
