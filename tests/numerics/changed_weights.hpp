#pragma once
#include "numerics/weights_check.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace monomorph::testing {

/// What a fixture of Hugging Face's has, for a test to change and to write to a folder.
struct ChangedWeights {
  struct Tensor {
    runtime::FileDType dtype{};
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;

    /// Of a matrix, so many rows, zeros behind those that it had.
    void resize_rows(std::int64_t rows) {
      bytes.resize(bytes.size() / static_cast<std::size_t>(shape[0]) * static_cast<std::size_t>(rows));
      shape[0] = rows;
    }
    /// In the place of one number, of the tensor's own type.
    template <class Number> void put(std::size_t element, Number number) {
      std::memcpy(&bytes.at(element * sizeof(Number)), &number, sizeof(Number));
    }
  };
  std::map<std::string, Tensor> tensors;
  nlohmann::json config;

  explicit ChangedWeights(const std::string& name)
      : config(nlohmann::json::parse(read_bytes(fixture(name) + "/config.json"))) {
    const auto file = runtime::SafetensorsFile::open(fixture(name) + "/model.safetensors");
    for (const runtime::TensorEntry& entry : file.tensors())
      tensors[entry.name] = {entry.dtype,
                             entry.shape,
                             {file.data(entry), file.data(entry) + (entry.end - entry.begin)}};
  }

  void write(const std::string& folder) const {
    std::filesystem::create_directories(folder);
    std::vector<runtime::TensorToWrite> to_write;
    for (const auto& [name, tensor] : tensors)
      to_write.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
    runtime::write_safetensors(folder + "/model.safetensors", to_write, {});
    write_bytes(folder + "/config.json", config.dump());
  }
};

}  // namespace monomorph::testing
