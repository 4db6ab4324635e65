#pragma once
#include <monomorph/runtime/files/safetensors.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// GGUF, the format of llama.cpp: one file of metadata and tensors. Version 3, little-endian.
namespace monomorph::runtime {

/// The dtypes of tensors that are written, by their numbers in files.
enum class GgufDType : std::uint32_t { f32 = 0, f16 = 1, bf16 = 30 };

/// Keys with values, in the order in which they are added.
class GgufMetadata {
 public:
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, std::uint32_t value);
  void add(std::string_view key, float value);
  void add_flag(std::string_view key, bool value);
  void add(std::string_view key, std::span<const std::string> values);
  void add(std::string_view key, std::span<const std::int32_t> values);
  void add(std::string_view key, std::span<const float> values);
  std::uint64_t size() const { return size_; }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class Number> void add_numbers(std::string_view key, std::uint32_t type, std::span<const Number> values);
  void begin(std::string_view key, std::uint32_t type);

  std::string bytes_;
  std::uint64_t size_ = 0;
};

/// A tensor, row-major, whose bytes are given when they are written.
struct GgufTensor {
  std::string name;
  GgufDType dtype{};
  std::vector<std::int64_t> shape;  ///< at most four sizes, that of a row last
  std::function<void(const ByteSink&)> give;
};

/// Writes a file, atomically. The bytes of each tensor begin at a multiple of 32.
/// @throws as AtomicFile; std::logic_error if a tensor gives more or fewer bytes than it has
void write_gguf(const std::string& path, const GgufMetadata& metadata, std::span<const GgufTensor> tensors);

}  // namespace monomorph::runtime
