#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

/// Parts of SentencePiece's .model files, which are messages of protocol buffers.
namespace monomorph::testing {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string number_field(std::uint64_t field, std::uint64_t value) { return varint(field << 3) + varint(value); }

inline std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

/// A group of fields, which no SentencePiece file has: readers pass over it.
inline std::string group(std::uint64_t field, std::string_view fields) {
  return varint(field << 3 | 3) + std::string(fields) + varint(field << 3 | 4);
}

/// A piece as a file holds it, to be put at its end. Types: 1 normal, 2 unknown, 3 control, 4 named by the user, 5
/// unused.
inline std::string piece(std::string_view text, float score, std::uint64_t type) {
  std::string message = bytes_field(1, text) + varint(2 << 3 | 5);
  const auto bits = std::bit_cast<std::uint32_t>(score);
  for (int shift = 0; shift < 32; shift += 8) message += static_cast<char>(bits >> shift);
  return bytes_field(1, message + number_field(3, type));
}

}  // namespace monomorph::testing
