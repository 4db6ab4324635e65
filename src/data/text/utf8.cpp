#include <monomorph/data/text/utf8.hpp>

#include <simdjson.h>

#include <algorithm>

namespace monomorph::data {
namespace {

/// What a lead byte promises. The second byte has a range of its own: it excludes overlong forms, surrogates and code
/// points beyond U+10FFFF.
struct Lead {
  int n_bytes;  ///< 0: no character starts so
  unsigned char second_first, second_last;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

/// The length of the longest prefix that is valid UTF-8, found character by character: the time is that of the prefix.
std::size_t prefix_before_broken(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    const Utf8Character character = first_character(text.substr(position));
    if (!character.valid) break;
    position += character.n_bytes;
  }
  return position;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1, true, false};
  const Lead lead = lead_of(first);
  if (lead.n_bytes == 0) return {replacement_code_point, 1, false, false};
  char32_t code_point = first & (0x7Fu >> lead.n_bytes);
  for (int i = 1; i < lead.n_bytes; ++i) {
    if (static_cast<std::size_t>(i) == text.size())
      return {replacement_code_point, static_cast<std::uint8_t>(i), false, true};
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    const unsigned char lowest = i == 1 ? lead.second_first : 0x80;
    const unsigned char highest = i == 1 ? lead.second_last : 0xBF;
    if (byte < lowest || byte > highest) return {replacement_code_point, static_cast<std::uint8_t>(i), false, false};
    code_point = (code_point << 6) | (byte & 0x3Fu);
  }
  return {code_point, static_cast<std::uint8_t>(lead.n_bytes), true, false};
}

std::size_t valid_utf8_prefix(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size()) ? text.size() : prefix_before_broken(text);
}

std::size_t complete_utf8_prefix(std::string_view text) {
  // Only one of the last three bytes can begin a character that is not complete.
  for (std::size_t n_back = 1; n_back <= std::min<std::size_t>(3, text.size()); ++n_back) {
    const Utf8Character last = first_character(text.substr(text.size() - n_back));
    if (last.incomplete && last.n_bytes == n_back) return text.size() - n_back;
  }
  return text.size();
}

std::string replace_invalid_utf8(std::string_view text) {
  if (valid_utf8_prefix(text) == text.size()) return std::string(text);
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n_valid = prefix_before_broken(text);
    result.append(text.substr(0, n_valid));
    text.remove_prefix(n_valid);
    if (text.empty()) break;
    result.append(replacement_character);
    text.remove_prefix(first_character(text).n_bytes);
  }
  return result;
}

std::string Utf8Stream::push(std::string_view bytes) {
  pending_.append(bytes);
  const std::size_t n_ready = complete_utf8_prefix(pending_);
  std::string ready = replace_invalid_utf8(std::string_view(pending_).substr(0, n_ready));
  pending_.erase(0, n_ready);
  return ready;
}

std::string Utf8Stream::finish() {
  std::string rest = replace_invalid_utf8(pending_);
  pending_.clear();
  return rest;
}

}  // namespace monomorph::data
