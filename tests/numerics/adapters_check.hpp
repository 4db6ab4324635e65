#pragma once
#include "support/temporary_folder.hpp"
#include "support/training_program.hpp"
#include "train/weights/export_adapters.hpp"
#include "train/weights/export_folder.hpp"
#include "weights_check.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

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
inline void check_adapter_config_travels(const std::string& exported, const std::string& name,
                                         const std::string& model) {
  using Json = nlohmann::json;
  const Json here = Json::parse(read_bytes(exported + "/adapter_config.json")),
             there = Json::parse(read_bytes(adapters(name) + "/adapter_config.json"));
  for (const auto& [key, value] : here.items()) {
    CAPTURE(key);
    if (key == "base_model_name_or_path")
      CHECK(value == fixture(model));
    else if (key == "target_modules")
      CHECK(value.template get<std::set<std::string>>() == there.at(key).template get<std::set<std::string>>());
    else
      CHECK(value == there.at(key));
  }
}

/// What a checkpoint's weights make of the batch of a fixture.
template <Recipe R> Values outputs_with(const std::string& checkpoint, const std::string& name) {
  Model<R> model;
  train::restore_run(checkpoint, training_program<R>(), model.step, false);
  return model.outputs("../adapters/" + name);
}

/// Imports a model and its adapters, merges them, and exports them and imports them again.
/// @param model the fixture beside which the adapters are, if it is not of their name
template <Recipe R, Recipe Base> void check_travels_adapted(const std::string& name, const std::string& model) {
  const train::RecipeProgram recipe = training_program<R>(), base = training_program<Base>();
  const std::string expected = Model<R>::outputs_name;
  const ExportsFolder folder("adapters/" + name);
  const auto imported = train::import_weights(recipe, fixture(model), folder / "imported", adapters(name));
  CHECK(without_dropout(imported.notes).empty());
  const Values outputs = outputs_with<R>(imported.checkpoint, name);
  CHECK(relative_error(outputs, expected_of_adapters(name, expected)) < 1e-5);
  folder.keep_outputs("outputs", outputs);

  CHECK(contains(train::export_folder(recipe, imported.checkpoint, folder / "merged", {}), "adapters merged"));
  const auto merged = train::import_weights(base, folder / "merged", folder / "merged_imported");
  const Values of_merged = outputs_with<Base>(merged.checkpoint, name);
  CHECK(relative_error(of_merged, expected_of_adapters(name, "merged_" + expected)) < 1e-5);

  train::export_adapters(recipe, imported.checkpoint, folder / "adapters", DType::fp32);
  CHECK(tensors_of(folder / "adapters") == tensors_of(adapters(name)));
  check_adapter_config_travels(folder / "adapters", name, model);
  const auto again = train::import_weights(recipe, fixture(model), folder / "again", folder / "adapters");
  CHECK(outputs_with<R>(again.checkpoint, name) == outputs);
}
template <Recipe R, Recipe Base> void check_travels_adapted(const std::string& name) {
  check_travels_adapted<R, Base>(name, name);
}

/// A file of adapters of a fixture, to be changed.
struct AdapterFile {
  struct Matrix {
    std::int64_t rows, cols;
    std::vector<float> values;
  };
  nlohmann::json config;
  std::map<std::string, Matrix> matrices;

  explicit AdapterFile(const std::string& name)
      : config(nlohmann::json::parse(read_bytes(adapters(name) + "/adapter_config.json"))) {
    const auto file = runtime::SafetensorsFile::open(adapters(name) + "/adapter_model.safetensors");
    for (const runtime::TensorEntry& entry : file.tensors()) {
      const Values values = values_of(file, entry.name);
      matrices[entry.name] = {entry.shape[0], entry.shape[1], {values.begin(), values.end()}};
    }
  }
  void write_to(const std::string& folder) const {
    std::filesystem::create_directories(folder);
    write_bytes(folder + "/adapter_config.json", config.dump());
    std::vector<runtime::TensorToWrite> to_write;
    for (const auto& [name, matrix] : matrices)
      to_write.push_back({.name = name,
                          .dtype = runtime::FileDType::f32,
                          .shape = {matrix.rows, matrix.cols},
                          .data = reinterpret_cast<const std::byte*>(matrix.values.data())});
    runtime::write_safetensors(folder + "/adapter_model.safetensors", to_write, {});
  }
};

}  // namespace monomorph::testing
