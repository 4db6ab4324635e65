#include "train/weights/model_folder.hpp"

#include "core/folder_files.hpp"
#include "core/is_there.hpp"
#include "train/weights/training_facts.hpp"
#include "train/weights/unique_json.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::string_view config_name = "config.json", weights_name = "model.safetensors",
                           index_name = "model.safetensors.index.json";

/// A name in an index stands for a file beside it, and for nothing else.
void check_file_name(const std::string& name, const std::string& index) {
  const bool plain = name.ends_with(".safetensors") && !name.starts_with('.') &&
                     name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!plain)
    throw UsageError("WEIGHTS-05", fmt::format("{} names the file {}, and may name only safetensors files beside it; "
                                               "export the folder again",
                                               in_quotes(index), in_quotes(name)));
}

/// By tensor the file that has it.
std::map<std::string, std::string> weight_map_of(const std::string& index) {
  const json object = read_unique_object(index, "WEIGHTS-05");
  std::map<std::string, std::string> files;
  const auto found = object.find("weight_map");
  const bool is_map = found != object.end() && found->is_object() &&
                      std::ranges::all_of(*found, [](const json& file) { return file.is_string(); });
  if (!is_map)
    throw UsageError("WEIGHTS-05", fmt::format("{} has no weight_map from tensors to files; export the folder again",
                                               in_quotes(index)));
  for (const auto& [tensor, file] : found->items()) {
    check_file_name(file.get<std::string>(), index);
    files[tensor] = file.get<std::string>();
  }
  return files;
}

void add_text(std::string_view text, Xxh64& hash) {
  const std::uint64_t size = text.size();
  hash.update(std::as_bytes(std::span(&size, 1)));
  hash.update(std::as_bytes(std::span(text)));
}

}  // namespace

bool is_model_folder(const std::string& path) { return is_there(path_in(path, config_name)); }

FolderModel read_folder_model(const std::string& folder, bool masked_head) {
  const std::string path = path_in(folder, config_name);
  if (!is_there(path))
    throw UsageError("WEIGHTS-02", fmt::format("there is no {} in {}; give the folder of a model of Hugging Face's",
                                               config_name, in_quotes(folder)));
  const json config = read_unique_object(path, "WEIGHTS-03");
  const auto type = config.find("model_type");
  const std::string name = type != config.end() && type->is_string() ? type->get<std::string>() : "";
  const Family* family = find_family(name);
  if (family == nullptr) {
    std::vector<std::string_view> known;
    for (const Family* const one : families()) known.push_back(one->model_type);
    throw UsageError("WEIGHTS-02", fmt::format("{} has the model_type {}, and must have one of {}; give another model",
                                               in_quotes(path), in_quotes(name), fmt::join(known, ", ")));
  }
  if (masked_head && family->with_masked_head != nullptr) family = family->with_masked_head;
  FolderModel model{.folder = folder, .family = family, .portable = model_from(*family, config, path)};
  model.training = training_facts(model.portable, config);
  if (family->base.output == ModelOutput::embeddings)
    model.sentence = read_sentence_modules(folder, model.portable.model.d_model);
  if (model.sentence) model.portable.embedding = model.sentence->embedding;
  return model;
}

FolderTensors::FolderTensors(const std::string& folder, const std::string& subfolder)
    : folder_(folder), within_(subfolder.empty() ? "" : subfolder + "/") {
  const std::string single = path_of(weights_name), index = path_of(index_name);
  if (is_there(single))
    add_file(single);
  else if (is_there(index))
    add_files_of(index);
  else
    throw UsageError("WEIGHTS-05", fmt::format("there is neither {} nor {} in {}; other formats of weights must be "
                                               "converted to safetensors first",
                                               weights_name, index_name,
                                               in_quotes(subfolder.empty() ? folder : folder + "/" + subfolder)));
}

std::string FolderTensors::path_of(std::string_view file) const {
  return path_in(folder_, fmt::format("{}{}", within_, file));
}

void FolderTensors::add_files_of(const std::string& index) {
  const std::map<std::string, std::string> listed = weight_map_of(index);
  std::map<std::string, std::string> paths;
  for (const auto& [tensor, file] : listed)
    if (const auto [path, is_new] = paths.try_emplace(file); is_new) add_file(path->second = path_of(file));
  const auto refuse = [&](const std::string& tensor) {
    throw UsageError("WEIGHTS-05", fmt::format("{} does not lie where {} says; export the folder again",
                                               in_quotes(tensor), in_quotes(index)));
  };
  for (const auto& [tensor, file] : listed) {
    const Tensor* const found = find(tensor);
    if (found == nullptr || found->file->path() != paths.at(file)) refuse(tensor);
  }
  for (const auto& [tensor, place] : tensors_)
    if (!listed.contains(tensor)) refuse(tensor);
}

void FolderTensors::add_file(const std::string& path) {
  const auto& file =
      *files_.emplace_back(std::make_unique<runtime::SafetensorsFile>(runtime::SafetensorsFile::open(path)));
  for (const runtime::TensorEntry& entry : file.tensors())
    if (const auto [same, is_new] = tensors_.try_emplace(entry.name, Tensor{&file, &entry}); !is_new)
      throw UsageError("WEIGHTS-05",
                       fmt::format("{} lies in {} and in {}; export the folder again", in_quotes(entry.name),
                                   in_quotes(same->second.file->path()), in_quotes(path)));
}

void FolderTensors::release() const noexcept {
  for (const auto& file : files_) file->release();
}

std::uint64_t FolderTensors::identity() const {
  constexpr std::size_t most_bytes = 4096;
  Xxh64 hash;
  for (const auto& [name, tensor] : tensors_) {
    add_text(name, hash);
    add_text(runtime::name_of(tensor.entry->dtype), hash);
    hash.update(std::as_bytes(std::span(tensor.entry->shape)));
    const std::span bytes(tensor.file->data(*tensor.entry), tensor.entry->end - tensor.entry->begin);
    const std::size_t n = std::min(bytes.size(), most_bytes);
    hash.update(bytes.first(n));
    hash.update(bytes.last(n));
  }
  release();
  return hash.digest();
}

const FolderTensors::Tensor* FolderTensors::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace monomorph::train
