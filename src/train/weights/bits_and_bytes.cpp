#include "train/weights/bits_and_bytes.hpp"

#include "runtime/kernels/nf4_values.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
    const json said = json::parse(text_of(state_), nullptr, false);
    if (!is_double_nf4(said))
      refuse(state_suffix, "say that it is nf4 in blocks of 64, with fp32 scales in blocks of 256");
    BitsAndBytesMatrix matrix{.shape = {said["shape"][0].get<std::int64_t>(), said["shape"][1].get<std::int64_t>()},
                              .codes = {},
                              .absmax = {},
                              .nested_absmax = {},
                              .offset = said["nested_offset"].get<float>()};
    if (!is_size(matrix.shape.rows) || !is_size(matrix.shape.cols) || matrix.shape.elements() % Nf4Places::block != 0)
      refuse(state_suffix, "have a shape whose elements are a multiple of 64");
    Layout bytes;
    const Nf4Places places(bytes, matrix.shape.elements());
    matrix.codes = part("", runtime::FileDType::u8, places.codes);
    matrix.absmax = part(".absmax", runtime::FileDType::u8, places.absmax);
    matrix.nested_absmax = part(".nested_absmax", runtime::FileDType::f32, places.nested_absmax);
    check_values(".quant_map", nf4_values);
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
  static bool is_double_nf4(const json& said) {
    if (!said.is_object()) return false;
    const auto is = [&](const char* key, const json& value) {
      const auto found = said.find(key);
      return found != said.end() && *found == value;
    };
    const auto shape = said.find("shape"), offset = said.find("nested_offset");
    return is("quant_type", "nf4") && is("blocksize", Nf4Places::block) &&
           is("nested_blocksize", Nf4Places::nested_block) && is("nested_dtype", "float32") && offset != said.end() &&
           offset->is_number() && shape != said.end() && shape->is_array() && shape->size() == 2 &&
           (*shape)[0].is_number_integer() && (*shape)[1].is_number_integer();
  }
  Tensor part(std::string_view suffix, runtime::FileDType dtype, Slice bytes) const {
    const Tensor* const found = folder_.find(name_ + std::string(suffix));
    const auto n = static_cast<std::size_t>(bytes.shape.elements());
    if (found == nullptr || found->entry->dtype != dtype || found->entry->end - found->entry->begin != n)
      refuse(suffix, fmt::format("be there, with {} bytes of {}", n, runtime::name_of(dtype)));
    return *found;
  }
  void check_values(std::string_view suffix, const auto& values) const {
    const Tensor found = part(suffix, runtime::FileDType::f32, {0, {1, std::int64_t{sizeof(values)}}});
    if (std::memcmp(found.file->data(*found.entry), values.data(), sizeof(values)) != 0)
      refuse(suffix, "have the values of bitsandbytes");
  }

  const FolderTensors& folder_;
  const std::string& name_;
  const Tensor& state_;
};

void copy_into(const Tensor& from, const View& to) {
  std::memcpy(to.data, from.file->data(*from.entry), static_cast<std::size_t>(to.bytes()));
}

}  // namespace

void BitsAndBytesMatrix::read(const Nf4Matrix& to) const {
  copy_into(codes, to.codes);
  copy_into(absmax, to.absmax);
  copy_into(nested_absmax, to.nested_absmax);
  *to.offset.as<float>() = offset;
}

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
