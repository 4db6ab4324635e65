// What bitsandbytes says of a matrix in NF4: accepted, all of the matrix is there, and fits what is planned for it.
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness.hpp"
#include "memory_folder.hpp"
#include "runtime/kernels/nf4_values.hpp"
#include "train/weights/bits_and_bytes.hpp"

using namespace monomorph;

namespace {

template <class Values> std::string bytes_of(const Values& values) {
  return {reinterpret_cast<const char*>(values.data()), sizeof(values)};
}

/// A matrix of 128 elements, with what is said of it.
std::string file_with(const std::string& state) {
  const std::vector<std::tuple<std::string, std::string, std::string>> tensors{
      {"w", "U8", std::string(64, '\x35')},
      {"w.absmax", "U8", std::string(2, '\x70')},
      {"w.nested_absmax", "F32", bytes_of(std::array<float, 1>{0.5F})},
      {"w.nested_quant_map", "F32", bytes_of(dynamic_values)},
      {"w.quant_map", "F32", bytes_of(nf4_values)},
      {"w.quant_state.bitsandbytes__nf4", "U8", state}};
  nlohmann::json header;
  std::string data;
  for (const auto& [name, dtype, bytes] : tensors) {
    const std::size_t begin = data.size();
    data += bytes;
    header[name] = {{"dtype", dtype},
                    {"shape", {bytes.size() / (dtype == "F32" ? sizeof(float) : 1)}},
                    {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + data;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  folder.put("model.safetensors", file_with({reinterpret_cast<const char*>(data), size}));
  return fuzz::refusing([&] {
    const train::FolderTensors tensors(folder.path());
    const auto matrix = train::bits_and_bytes_matrix(tensors, "w");
    fuzz::require(matrix.has_value(), "what is said of a matrix is found");
    fuzz::require(matrix->shape.elements() == 128, "a matrix has the elements that are there");
    Layout planned;
    const Nf4Places places(planned, matrix->shape.elements());
    std::vector<std::byte> memory(static_cast<std::size_t>(planned.elements));
    const Nf4Matrix to(View(memory.data(), DType::u8, {1, planned.elements}), places);
    matrix->read(to);
    fuzz::require(std::memcmp(to.codes.data, std::string(64, '\x35').data(), 64) == 0, "codes are read as they are");
  });
}
