#pragma once
#include "runtime/comm/one_rank.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <cstring>
#include <map>
#include <string>
#include <vector>

/// Checkpoints of a few tensors.
namespace monomorph::testing {

struct SavedTensor {
  runtime::FileDType dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

template <class Element>
SavedTensor saved_tensor(runtime::FileDType dtype, const std::vector<Element>& values,
                         std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) shape = {std::ssize(values)};
  return {dtype, shape, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element)}};
}
inline SavedTensor fp32_tensor(const std::vector<float>& values, std::vector<std::int64_t> shape = {}) {
  return saved_tensor(runtime::FileDType::f32, values, std::move(shape));
}

using SavedTensors = std::map<std::string, SavedTensor>;

inline runtime::CheckpointMetadata metadata_of_step(std::int64_t step) {
  runtime::CheckpointMetadata metadata;
  metadata.fingerprint = "0123456789abcdef";
  metadata.state_fingerprint = "fedcba9876543210";
  metadata.recipe_facts = {{"optimizer", "AdamW"}};
  metadata.recipe_description = "a recipe";
  metadata.hyperparameters = "{}";
  metadata.step = step;
  return metadata;
}

/// @return the path of the checkpoint, which is in `folder`
inline std::string save_tensors(const std::string& folder, const SavedTensors& tensors,
                                const runtime::CheckpointMetadata& metadata, const runtime::Retention& retention = {}) {
  std::vector<runtime::PartToSave> parts;
  for (const auto& [name, tensor] : tensors)
    parts.push_back({{name, tensor.dtype, tensor.shape, reinterpret_cast<const std::byte*>(tensor.bytes.data())},
                     RegionRun::whole(dims_of(tensor.shape))});
  OneRank one_rank;
  return runtime::save_checkpoint(folder, metadata, one_rank, parts, retention).path;
}
inline std::string save_tensors(const std::string& folder, const SavedTensors& tensors, std::int64_t step = 1) {
  return save_tensors(folder, tensors, metadata_of_step(step));
}

inline SavedTensor read_tensor(runtime::CheckpointReader& checkpoint, const std::string& name) {
  const auto& tensor = *checkpoint.find(name);
  std::string bytes(static_cast<std::size_t>(tensor.n_elements) * runtime::bytes_per_element(tensor.dtype), '\0');
  checkpoint.read(name, 0, std::as_writable_bytes(std::span(bytes)));
  return {tensor.dtype, tensor.shape, bytes};
}
inline std::vector<float> fp32_values(runtime::CheckpointReader& checkpoint, const std::string& name) {
  const SavedTensor tensor = read_tensor(checkpoint, name);
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace monomorph::testing
