#include <monomorph/data/text/byte_level.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <cstdint>

namespace monomorph::data {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> code_points = [] {
  std::array<char32_t, 256> result{};
  char32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    result[static_cast<std::size_t>(byte)] = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
  }
  return result;
}();

constexpr std::size_t n_code_points = 0x100 + 68;  // 68 bytes are not printable

/// Code point to byte; -1 for those outside the alphabet.
constexpr std::array<std::int16_t, n_code_points> bytes_of_code_points = [] {
  std::array<std::int16_t, n_code_points> result{};
  result.fill(-1);
  for (std::size_t byte = 0; byte < 256; ++byte) result[code_points[byte]] = static_cast<std::int16_t>(byte);
  return result;
}();

}  // namespace

const std::array<std::string, 256>& byte_level_alphabet() {
  static const std::array<std::string, 256> alphabet = [] {
    std::array<std::string, 256> result;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const char32_t code_point = code_points[byte];
      if (code_point < 0x80) {
        result[byte].push_back(static_cast<char>(code_point));
      } else {
        result[byte].push_back(static_cast<char>(0xC0 | code_point >> 6));
        result[byte].push_back(static_cast<char>(0x80 | (code_point & 0x3F)));
      }
    }
    return result;
  }();
  return alphabet;
}

std::string to_byte_level(std::string_view bytes) {
  std::string result;
  for (const char byte : bytes) result += byte_level_alphabet()[static_cast<unsigned char>(byte)];
  return result;
}

std::optional<std::string> from_byte_level(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    if (!character.valid || character.code_point >= n_code_points) return std::nullopt;
    const std::int16_t byte = bytes_of_code_points[character.code_point];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    text.remove_prefix(character.n_bytes);
  }
  return bytes;
}

}  // namespace monomorph::data
