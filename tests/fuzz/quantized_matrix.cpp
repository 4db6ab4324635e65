// What bitsandbytes says of a matrix in NF4: accepted, all of the matrix is there, and fits what is planned for it.
#include <monomorph/spec/nf4_places.hpp>
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

/// A matrix of 128 elements, with what is said of it, and scales of a byte if that is said of nested ones.
std::string file_with(const std::string& state) {
  const bool is_double = state.find("nested") != std::string::npos;
  const std::vector<std::tuple<std::string, std::string, std::string>> tensors{
      {"w", "U8", std::string(64, '\x35')},
      {"w.absmax", is_double ? "U8" : "F32",
       is_double ? std::string(2, '\x70') : bytes_of(std::array<float, 2>{0.5F, 0.25F})},
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
    const auto holds = [](const train::FolderTensors::Tensor& tensor, std::int64_t n_bytes) {
      return static_cast<std::int64_t>(tensor.entry->end - tensor.entry->begin) == n_bytes;
    };
    const std::int64_t n_scales = places.absmax.shape.elements();
    fuzz::require(holds(matrix->codes, places.codes.shape.elements()), "codes have their places");
    if (matrix->nested_absmax)
      fuzz::require(holds(matrix->absmax, n_scales) &&
                        holds(*matrix->nested_absmax, places.nested_absmax.shape.elements()),
                    "scales of a byte have their places");
    else
      fuzz::require(holds(matrix->absmax, n_scales * size_of(DType::fp32)), "scales in fp32 have their places");
  });
}
