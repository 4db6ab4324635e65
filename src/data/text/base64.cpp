#include "data/text/base64.hpp"

#include <array>
#include <cstdint>

namespace monomorph::data {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> values = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return table;
}();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t n_padding = 0;
  while (n_padding < 2 && n_padding < text.size() && text[text.size() - 1 - n_padding] == '=') ++n_padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_padding = i >= text.size() - n_padding;
    const std::int8_t value = is_padding ? std::int8_t{0} : values[static_cast<unsigned char>(text[i])];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 0xFFu);
    bits = 0;
  }
  for (; n_padding > 0; --n_padding) {
    if (bytes.back() != '\0') return std::nullopt;  // bits that belong to no byte
    bytes.pop_back();
  }
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < group.size() ? static_cast<unsigned char>(group[j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j <= group.size() ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

}  // namespace monomorph::data
