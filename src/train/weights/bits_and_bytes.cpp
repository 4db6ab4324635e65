#include "train/weights/bits_and_bytes.hpp"

#include "core/json_text.hpp"
#include "runtime/kernels/nf4_values.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/spec/nf4_places.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace monomorph::train {
namespace {

using nlohmann::json;
using Tensor = FolderTensors::Tensor;

constexpr std::string_view state_suffix = ".quant_state.bitsandbytes__nf4";

class Reader {
 public:
  Reader(const FolderTensors& folder, const std::string& name, const Tensor& state)
      : folder_(folder), name_(name), state_(state) {}

  BitsAndBytesMatrix read() const {
    const json said = parsed_json(text_of(state_));
    const bool is_double = says_nested(said);
    if (!is_nf4(said) || (is_double && !is_double_nf4(said)))
      refuse(state_suffix, "say that it is nf4 in blocks of 64, with scales in fp32, or in blocks of 256 of such");
    BitsAndBytesMatrix matrix{.shape = {said["shape"][0].get<std::int64_t>(), said["shape"][1].get<std::int64_t>()},
                              .codes = {},
                              .absmax = {},
                              .nested_absmax = {}};
    if (!is_size(matrix.shape.rows) || !is_size(matrix.shape.cols) || matrix.shape.elements() % Nf4Places::block != 0)
      refuse(state_suffix, "have a shape whose elements are a multiple of 64");
    Layout bytes;
    const Nf4Places places(bytes, matrix.shape.elements());
    const std::int64_t n_scales = places.absmax.shape.elements();
    matrix.codes = part("", runtime::FileDType::u8, places.codes.shape.elements());
    check_values(".quant_map", nf4_values);
    if (!is_double) {
      matrix.absmax = part(".absmax", runtime::FileDType::f32, n_scales * size_of(DType::fp32));
      return matrix;
    }
    matrix.absmax = part(".absmax", runtime::FileDType::u8, n_scales);
    matrix.nested_absmax = part(".nested_absmax", runtime::FileDType::f32, places.nested_absmax.shape.elements());
    matrix.offset = said["nested_offset"].get<float>();
    check_values(".nested_quant_map", dynamic_values);
    return matrix;
  }

 private:
  [[noreturn]] void refuse(std::string_view suffix, const std::string& requirement) const {
    throw UsageError("WEIGHTS-07", fmt::format("{}{} in {} must {}; give the folder of another model", name_, suffix,
                                               in_quotes(state_.file->path()), requirement));
  }
  /// Two of them have a product.
  static bool is_size(std::int64_t n) { return 0 < n && n < std::int64_t{1} << 31; }
  static std::string text_of(const Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.file->data(*tensor.entry)), tensor.entry->end - tensor.entry->begin};
  }
  static bool has(const json& said, const char* key, const json& value) {
    const auto found = said.find(key);
    return found != said.end() && *found == value;
  }
  static bool is_nf4(const json& said) {
    if (!said.is_object()) return false;
    const auto shape = said.find("shape");
    return has(said, "quant_type", "nf4") && has(said, "blocksize", Nf4Places::block) && shape != said.end() &&
           shape->is_array() && shape->size() == 2 && (*shape)[0].is_number_integer() &&
           (*shape)[1].is_number_integer();
  }
  static bool says_nested(const json& said) {
    return said.is_object() &&
           std::ranges::any_of(said.items(), [](const auto& one) { return one.key().starts_with("nested_"); });
  }
  static bool is_double_nf4(const json& said) {
    const auto offset = said.find("nested_offset");
    return has(said, "nested_blocksize", Nf4Places::nested_block) && has(said, "nested_dtype", "float32") &&
           offset != said.end() && offset->is_number();
  }
  Tensor part(std::string_view suffix, runtime::FileDType dtype, std::int64_t n_bytes) const {
    const Tensor* const found = folder_.find(name_ + std::string(suffix));
    const auto n = static_cast<std::size_t>(n_bytes);
    if (found == nullptr || found->entry->dtype != dtype || found->entry->end - found->entry->begin != n)
      refuse(suffix, fmt::format("be there, with {} bytes of {}", n, runtime::name_of(dtype)));
    return *found;
  }
  void check_values(std::string_view suffix, const auto& values) const {
    const Tensor found = part(suffix, runtime::FileDType::f32, std::int64_t{sizeof(values)});
    if (std::memcmp(found.file->data(*found.entry), values.data(), sizeof(values)) != 0)
      refuse(suffix, "have the values of bitsandbytes");
  }

  const FolderTensors& folder_;
  const std::string& name_;
  const Tensor& state_;
};

}  // namespace

std::optional<BitsAndBytesMatrix> bits_and_bytes_matrix(const FolderTensors& folder, const std::string& name) {
  const Tensor* const state = folder.find(name + std::string(state_suffix));
  if (state == nullptr) return std::nullopt;
  return Reader(folder, name, *state).read();
}

std::vector<std::string> names_beside(const std::string& name) {
  std::vector<std::string> names{name + std::string(state_suffix)};
  for (const char* suffix : {".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map"})
    names.push_back(name + suffix);
  return names;
}

}  // namespace monomorph::train
