#pragma once
#include <monomorph/runtime/files/safetensors.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// What the reader and the writer of safetensors files share.
namespace monomorph::runtime::safetensors_format {

/// The key of the header that holds the string map and is no tensor's name.
inline constexpr std::string_view metadata_key = "__metadata__";
inline constexpr std::size_t length_bytes = 8;
/// The format's own limit for the header.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

/// Elements times bytes per element; nothing if the shape is negative or the product overflows.
inline std::optional<std::size_t> byte_size(FileDType dtype, std::span<const std::int64_t> shape) {
  std::int64_t n_bytes = static_cast<std::int64_t>(bytes_per_element(dtype));
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(n_bytes, size, &n_bytes)) return std::nullopt;
  }
  return static_cast<std::size_t>(n_bytes);
}

}  // namespace monomorph::runtime::safetensors_format
