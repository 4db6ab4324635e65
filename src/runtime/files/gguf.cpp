#include <monomorph/runtime/files/gguf.hpp>

#include <monomorph/core/atomic_file.hpp>

#include <bit>
#include <concepts>
#include <cstring>
#include <stdexcept>

namespace monomorph::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

/// The types of values, with their numbers in files.
enum Type : std::uint32_t { type_u32 = 4, type_i32 = 5, type_f32 = 6, type_bool = 7, type_text = 8, type_array = 9 };

constexpr std::uint64_t tensor_alignment = 32;
constexpr std::uint64_t aligned(std::uint64_t n_bytes) {
  return (n_bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

template <class Number>
requires std::integral<Number> || std::floating_point<Number>
void append(std::string& bytes, Number number) {
  char raw[sizeof(Number)];
  std::memcpy(raw, &number, sizeof(Number));
  bytes.append(raw, sizeof(Number));
}
void append(std::string& bytes, std::string_view text) {
  append(bytes, std::uint64_t{text.size()});
  bytes.append(text);
}

std::uint64_t bytes_of(const GgufTensor& tensor) {
  std::uint64_t n = tensor.dtype == GgufDType::f32 ? 4 : 2;
  for (const std::int64_t size : tensor.shape) n *= static_cast<std::uint64_t>(size);
  return n;
}

/// All that comes before the tensors' bytes.
std::string header_of(const GgufMetadata& metadata, std::span<const GgufTensor> tensors) {
  constexpr std::uint32_t version = 3;
  std::string header = "GGUF";
  append(header, version);
  append(header, std::uint64_t{tensors.size()});
  append(header, metadata.size());
  header += metadata.bytes();
  std::uint64_t offset = 0;
  for (const GgufTensor& tensor : tensors) {
    append(header, std::string_view(tensor.name));
    append(header, static_cast<std::uint32_t>(tensor.shape.size()));
    for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size)
      append(header, static_cast<std::uint64_t>(*size));
    append(header, static_cast<std::uint32_t>(tensor.dtype));
    append(header, offset);
    offset += aligned(bytes_of(tensor));
  }
  header.resize(aligned(header.size()));
  return header;
}

}  // namespace

void GgufMetadata::begin(std::string_view key, std::uint32_t type) {
  append(bytes_, key);
  append(bytes_, type);
  ++size_;
}
void GgufMetadata::add(std::string_view key, std::string_view value) {
  begin(key, type_text);
  append(bytes_, value);
}
void GgufMetadata::add(std::string_view key, std::uint32_t value) {
  begin(key, type_u32);
  append(bytes_, value);
}
void GgufMetadata::add(std::string_view key, float value) {
  begin(key, type_f32);
  append(bytes_, value);
}
void GgufMetadata::add_flag(std::string_view key, bool value) {
  begin(key, type_bool);
  append(bytes_, static_cast<char>(value));
}
void GgufMetadata::add(std::string_view key, std::span<const std::string> values) {
  begin(key, type_array);
  append(bytes_, std::uint32_t{type_text});
  append(bytes_, std::uint64_t{values.size()});
  for (const std::string& value : values) append(bytes_, std::string_view(value));
}
template <class Number>
void GgufMetadata::add_numbers(std::string_view key, std::uint32_t type, std::span<const Number> values) {
  begin(key, type_array);
  append(bytes_, type);
  append(bytes_, std::uint64_t{values.size()});
  for (const Number value : values) append(bytes_, value);
}
void GgufMetadata::add(std::string_view key, std::span<const std::int32_t> values) {
  add_numbers(key, type_i32, values);
}
void GgufMetadata::add(std::string_view key, std::span<const float> values) { add_numbers(key, type_f32, values); }

void write_gguf(const std::string& path, const GgufMetadata& metadata, std::span<const GgufTensor> tensors) {
  AtomicFile file(path);
  file.write(header_of(metadata, tensors));
  for (const GgufTensor& tensor : tensors) {
    const std::uint64_t n_bytes = bytes_of(tensor);
    std::uint64_t given = 0;
    tensor.give([&](std::span<const std::byte> bytes) {
      given += bytes.size();
      file.write(bytes);
    });
    if (given != n_bytes) throw std::logic_error("a tensor of a GGUF file gives as many bytes as it has");
    file.write(std::string(aligned(n_bytes) - n_bytes, '\0'));
  }
  file.commit();
}

}  // namespace monomorph::runtime
