#include "train/weights/run_folder_of.hpp"

#include "core/json_text.hpp"

#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string_view>

namespace monomorph::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// A hyperparameter that is a text; empty in checkpoints that do not have it.
std::string text_at(const Json& hyperparameters, const char* place) {
  const Json::json_pointer pointer(place);
  const bool is_there = hyperparameters.contains(pointer) && hyperparameters.at(pointer).is_string();
  return is_there ? hyperparameters.at(pointer).get<std::string>() : "";
}

}  // namespace

std::string run_folder_of(const std::string& checkpoint) {
  const Json hyperparameters = parsed_ordered_json(runtime::read_checkpoint_metadata(checkpoint).hyperparameters);
  const std::string named = text_at(hyperparameters, "/checkpoint/directory");
  const fs::path directory = fs::path(named.empty() ? "checkpoints" : named).lexically_normal();
  if (directory.is_absolute() || *directory.begin() == "..") return text_at(hyperparameters, "/run/output_dir");
  fs::path folder = fs::path(checkpoint) / "..";
  if (runtime::was_set_aside(checkpoint)) folder /= "..";
  for (const fs::path& part : directory)
    if (!part.empty() && part != ".") folder /= "..";
  return folder.string();
}

}  // namespace monomorph::train
