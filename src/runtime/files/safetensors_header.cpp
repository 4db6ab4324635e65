#include "safetensors_format.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/safetensors.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace monomorph::runtime {
namespace {

using safetensors_format::length_bytes;
using safetensors_format::max_header_bytes;
using safetensors_format::metadata_key;

struct DTypeRow {
  FileDType dtype;
  std::string_view name;
  std::size_t n_bytes;
};
constexpr std::array<DTypeRow, 10> dtype_table{{{FileDType::f64, "F64", 8},
                                                {FileDType::f32, "F32", 4},
                                                {FileDType::f16, "F16", 2},
                                                {FileDType::bf16, "BF16", 2},
                                                {FileDType::i64, "I64", 8},
                                                {FileDType::i32, "I32", 4},
                                                {FileDType::i16, "I16", 2},
                                                {FileDType::i8, "I8", 1},
                                                {FileDType::u8, "U8", 1},
                                                {FileDType::boolean, "BOOL", 1}}};

const DTypeRow& row_of(FileDType dtype) {
  return *std::find_if(dtype_table.begin(), dtype_table.end(), [=](const DTypeRow& row) { return row.dtype == dtype; });
}

/// Follows the parser through the header: {"__metadata__": {text: text}, tensor name: {dtype, shape, data_offsets}}.
/// A document tree would keep only the last of equal names, and would build whatever a hostile file asks for.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const std::string& path, SafetensorsHeader& header) : path_(path), header_(header) {}

  bool start_object(std::size_t) override {
    if (depth_ > 1 || in_array_) refuse_value("an object");
    if (++depth_ == 2 && !in_metadata_) fields_seen_ = {};
    return true;
  }

  bool key(std::string& text) override {
    if (depth_ == 1) {
      in_metadata_ = text == metadata_key;
      if (in_metadata_ && std::exchange(metadata_seen_, true)) refuse_twice(text);
      if (!in_metadata_) header_.tensors.emplace_back().name = text;
    } else if (!in_metadata_) {
      const auto field = std::find(field_names.begin(), field_names.end(), text);
      if (field == field_names.end()) fail("{} has the unknown field {}", where(), in_quotes(text));
      field_ = static_cast<std::size_t>(field - field_names.begin());
      if (std::exchange(fields_seen_[field_], true)) refuse_twice(text);
    }
    key_ = text;
    return true;
  }

  bool end_object() override {
    if (depth_-- == 1 || in_metadata_) return true;
    for (std::size_t field = 0; field < field_names.size(); ++field) {
      if (!fields_seen_[field]) fail("{} lacks the field \"{}\"", where(), field_names[field]);
    }
    const TensorEntry& tensor = header_.tensors.back();
    if (offsets_.size() != 2) fail("{} needs two data_offsets, not {}", where(), offsets_.size());
    header_.tensors.back().begin = offsets_[0];
    header_.tensors.back().end = offsets_[1];
    check_size(tensor);
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ != 2 || in_array_) refuse_value("a string");
    if (in_metadata_) {
      if (!header_.metadata.emplace(key_, text).second) refuse_twice(key_);
      return true;
    }
    if (field_ != dtype_field) refuse_value("a string");
    const auto* const row =
        std::find_if(dtype_table.begin(), dtype_table.end(), [&](const DTypeRow& known) { return known.name == text; });
    if (row == dtype_table.end()) {
      throw Error("SAFETENSORS-03", fmt::format("{}: {} has dtype {}, which is none of F64, F32, F16, BF16, I64, I32, "
                                                "I16, I8, U8, BOOL; convert the file",
                                                in_quotes(path_), where(), in_quotes(text)));
    }
    header_.tensors.back().dtype = row->dtype;
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_array_ || field_ == dtype_field) refuse_value("a list");
    in_array_ = true;
    if (field_ == offsets_field) offsets_.clear();
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    return true;
  }

  bool number_unsigned(std::uint64_t number) override {
    if (!in_array_) refuse_value("a number");
    if (field_ == offsets_field) {
      offsets_.push_back(number);
    } else if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      throw_shape();
    } else {
      header_.tensors.back().shape.push_back(static_cast<std::int64_t>(number));
    }
    return true;
  }

  bool number_integer(std::int64_t) override { return refuse_value("a negative number"); }
  bool number_float(double, const std::string&) override { return refuse_value("a number that is no 64-bit integer"); }
  bool null() override { return refuse_value("null"); }
  bool boolean(bool) override { return refuse_value("a truth value"); }
  bool binary(nlohmann::json::binary_t&) override { return refuse_value("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    refuse_byte(position);
  }
  /// @param position counted from 1
  [[noreturn]] void refuse_byte(std::size_t position) const { fail("the header is not JSON at its byte {}", position); }

 private:
  static constexpr std::array<std::string_view, 3> field_names{"dtype", "shape", "data_offsets"};
  static constexpr std::size_t dtype_field = 0;
  static constexpr std::size_t offsets_field = 2;

  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    throw Error("SAFETENSORS-02", fmt::format("{}: {}; the file is damaged, copy or export it again", in_quotes(path_),
                                              fmt::format(format, std::forward<Arguments>(arguments)...)));
  }
  [[noreturn]] bool refuse_value(std::string_view what) const { fail("{} may not hold {}", where(), what); }
  [[noreturn]] void refuse_twice(const std::string& what) const { fail("{} has {} twice", where(), in_quotes(what)); }

  std::string where() const {
    if (depth_ == 0 || (depth_ == 1 && key_.empty())) return "the header";
    return in_metadata_ ? "__metadata__" : "tensor " + in_quotes(header_.tensors.back().name);
  }

  [[noreturn]] void throw_shape() const {
    throw Error("SAFETENSORS-04", fmt::format("{}: the shape of {} has more elements than can be counted; the file is "
                                              "damaged, copy or export it again",
                                              in_quotes(path_), where()));
  }

  void check_size(const TensorEntry& tensor) const {
    const auto n_bytes = safetensors_format::byte_size(tensor.dtype, tensor.shape);
    if (!n_bytes) throw_shape();
    if (tensor.begin > tensor.end || tensor.end - tensor.begin != *n_bytes) {
      throw Error("SAFETENSORS-05",
                  fmt::format("{}: {} has data_offsets [{}, {}], but {} of shape [{}] takes {} bytes; "
                              "the file is damaged, copy or export it again",
                              in_quotes(path_), where(), tensor.begin, tensor.end, name_of(tensor.dtype),
                              fmt::join(tensor.shape, ", "), *n_bytes));
    }
  }

  const std::string& path_;
  SafetensorsHeader& header_;
  int depth_ = 0;
  bool in_array_ = false;
  bool in_metadata_ = false;
  bool metadata_seen_ = false;
  std::string key_;
  std::size_t field_ = 0;
  std::array<bool, field_names.size()> fields_seen_{};
  std::vector<std::uint64_t> offsets_;
};

/// The JSON text between the length and the data.
std::string_view header_text(std::span<const std::byte> file, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error("SAFETENSORS-01",
                fmt::format("{}: {}; it is cut short or is no safetensors file", in_quotes(path), why));
  };
  if (file.size() < length_bytes)
    refuse(fmt::format("{} bytes, and the first 8 give the header's length", file.size()));
  std::uint64_t n_bytes = 0;
  std::memcpy(&n_bytes, file.data(), length_bytes);
  if (n_bytes > max_header_bytes) refuse(fmt::format("a header of {} bytes, where 100 MB is the limit", n_bytes));
  if (n_bytes > file.size() - length_bytes) {
    refuse(fmt::format("a header of {} bytes in a file of {}", n_bytes, file.size()));
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + length_bytes, n_bytes);
  if (!text.starts_with('{')) refuse("the header does not begin with {");
  return text;
}

/// The data section is used from its first byte to its last, each byte once.
void check_coverage(const SafetensorsHeader& header, std::size_t n_bytes, const std::string& path) {
  std::size_t reached = 0;
  for (const TensorEntry& tensor : header.tensors) {
    if (tensor.begin != reached || tensor.end > n_bytes) {
      throw Error("SAFETENSORS-06",
                  fmt::format("{}: tensor {} lies at [{}, {}) of {} bytes of data, where {} must "
                              "follow; the file is cut short or damaged, copy or export it again",
                              in_quotes(path), in_quotes(tensor.name), tensor.begin, tensor.end, n_bytes, reached));
    }
    reached = tensor.end;
  }
  if (reached != n_bytes) {
    throw Error("SAFETENSORS-06",
                fmt::format("{}: the tensors end at byte {} of {} bytes of data; the file is damaged, "
                            "copy or export it again",
                            in_quotes(path), reached, n_bytes));
  }
}

}  // namespace

std::size_t bytes_per_element(FileDType dtype) { return row_of(dtype).n_bytes; }
std::string_view name_of(FileDType dtype) { return row_of(dtype).name; }

SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& path) {
  const std::string_view text = header_text(file, path);
  SafetensorsHeader header;
  HeaderReader reader(path, header);
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    reader.refuse_byte(nul + 1);  // see find_nul
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  std::sort(header.tensors.begin(), header.tensors.end(), [](const TensorEntry& left, const TensorEntry& right) {
    return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
  });
  header.data_begin = length_bytes + text.size();
  check_coverage(header, file.size() - header.data_begin, path);
  return header;
}

}  // namespace monomorph::runtime
