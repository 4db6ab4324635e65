#include "data/text/python_text.hpp"

#include "data/text/unicode_sets.hpp"
#include "data/text/unicode_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace monomorph::data::python {
namespace {

constexpr char32_t sharp_s = 0xdf;

/// By lower case, the upper case that has it; of several the first, which is the common one.
const std::unordered_map<char32_t, char32_t>& upper_cases() {
  static const auto cases = [] {
    std::unordered_map<char32_t, char32_t> result{{0xb5, 0x39c}, {0x131, U'I'}, {0x17f, U'S'}, {0x3c2, 0x3a3}};
    for (const unicode::LowerCaseRun& run : unicode::lower_case_runs())
      for (char32_t code_point = run.first; code_point <= run.last; code_point += run.step)
        result.try_emplace(static_cast<char32_t>(static_cast<std::int64_t>(code_point) + run.difference), code_point);
    return result;
  }();
  return cases;
}

void append_upper(char32_t code_point, std::string& text) {
  if (code_point == sharp_s) {
    text += "SS";
    return;
  }
  const auto found = upper_cases().find(code_point);
  append_utf8(found == upper_cases().end() ? code_point : found->second, text);
}
void append_lower(char32_t code_point, std::string& text) {
  append_utf8(unicode::lower_case(code_point), text);
  if (code_point == 0x130) append_utf8(0x307, text);
}

const CodePointSet& category(std::string_view name) {
  static std::unordered_map<std::string_view, CodePointSet> sets = [] {
    std::unordered_map<std::string_view, CodePointSet> all;
    for (const std::string_view one : {"L", "Lu", "Ll", "Nd", "C", "Zl", "Zp", "Zs"})
      all.emplace(one, *unicode::general_category(one));
    return all;
  }();
  return sets.at(name);
}

bool is_printable(char32_t code_point) {
  if (code_point < 0x7f) return code_point >= 0x20;
  const auto ranges = unicode::category_ranges();
  const auto after = std::ranges::upper_bound(ranges, code_point, {}, &unicode::CategoryRange::first);
  if (after == ranges.begin() || (after - 1)->last < code_point) return false;
  const auto kind = (after - 1)->category;
  return kind[0] != 'C' && kind[0] != 'Z';
}

bool ends_line(char32_t c) {
  return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_one_of(std::string_view character, std::string_view characters) {
  return characters.find(character) != std::string_view::npos;
}

std::size_t last_character_begin(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin;
  return begin;
}

}  // namespace

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string_view left_stripped(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    if (!is_space(first.code_point)) break;
    text.remove_prefix(first.n_bytes);
  }
  return text;
}
std::string_view right_stripped(std::string_view text) {
  while (!text.empty()) {
    const std::size_t begin = last_character_begin(text);
    if (!is_space(first_character(text.substr(begin)).code_point)) break;
    text = text.substr(0, begin);
  }
  return text;
}
std::string_view stripped(std::string_view text) { return right_stripped(left_stripped(text)); }

std::string_view stripped_of(std::string_view text, std::string_view characters, bool left, bool right) {
  while (left && !text.empty()) {
    const std::size_t n_bytes = first_character(text).n_bytes;
    if (!is_one_of(text.substr(0, n_bytes), characters)) break;
    text.remove_prefix(n_bytes);
  }
  while (right && !text.empty()) {
    const std::size_t begin = last_character_begin(text);
    if (!is_one_of(text.substr(begin), characters)) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::size_t offset_of(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && index-- == 0) break;
  return at;
}

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  for_each_character(text, [&](char32_t, std::string_view bytes) { characters.push_back(bytes); });
  return characters;
}

std::string upper(std::string_view text) {
  std::string result;
  for_each_character(text, [&](char32_t code_point, std::string_view) { append_upper(code_point, result); });
  return result;
}
std::string lower(std::string_view text) {
  std::string result;
  for_each_character(text, [&](char32_t code_point, std::string_view) { append_lower(code_point, result); });
  return result;
}
std::string capitalized(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t first = first_character(text).n_bytes;
  return upper(text.substr(0, first)) + lower(text.substr(first));
}
std::string titled(std::string_view text) {
  std::string result;
  bool within_word = false;
  for_each_character(text, [&](char32_t code_point, std::string_view) {
    within_word ? append_lower(code_point, result) : append_upper(code_point, result);
    within_word = is_upper_letter(code_point) || is_lower_letter(code_point);
  });
  return result;
}

bool is_upper_letter(char32_t code_point) { return category("Lu").contains(code_point); }
bool is_lower_letter(char32_t code_point) { return category("Ll").contains(code_point); }
bool is_letter(char32_t code_point) { return category("L").contains(code_point); }
bool is_decimal(char32_t code_point) { return category("Nd").contains(code_point); }

std::string with_unix_line_ends(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    result += text[i] == '\r' ? '\n' : text[i];
  }
  return result;
}

std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = first_character(text.substr(at));
    const std::size_t end = at;
    at += character.n_bytes;
    if (!ends_line(character.code_point)) continue;
    if (character.code_point == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(begin, (keeps_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::string repr_of_text(std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  for_each_character(text, [&](char32_t c, std::string_view bytes) {
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      result.append("\\").append(bytes);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      result.append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else if (is_printable(c)) {
      result += bytes;
    } else {
      result += c < 0x100     ? fmt::format("\\x{:02x}", static_cast<std::uint32_t>(c))
                : c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c))
                              : fmt::format("\\U{:08x}", static_cast<std::uint32_t>(c));
    }
  });
  return result + quote;
}

}  // namespace monomorph::data::python
