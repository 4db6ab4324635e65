#include <monomorph/core/error.hpp>
#include <monomorph/data/text/graphemes.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/stages/precompiled_character_map.hpp>

#include <fmt/format.h>

namespace monomorph::data {
namespace {

constexpr std::size_t longest_replaced_cluster = 5;

// The bits of a unit of the double array.
constexpr std::uint32_t is_value = std::uint32_t{1} << 31;
constexpr bool has_value(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
constexpr std::uint32_t value(std::uint32_t unit) { return unit & ~is_value; }
constexpr std::uint32_t label(std::uint32_t unit) { return unit & (is_value | 0xFF); }
constexpr std::uint32_t offset(std::uint32_t unit) { return unit >> 10 << (unit >> 6 & 8); }

std::uint32_t read_number(std::string_view bytes, std::size_t position) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[position + i]);
  return number;
}

[[noreturn]] void throw_damaged(std::string_view what) {
  throw UsageError("TOK-43",
                   fmt::format("the tokenizer's precompiled character map is damaged: {}; take the file from where "
                               "it was made again",
                               what));
}

}  // namespace

PrecompiledCharacterMap::PrecompiledCharacterMap(std::string_view bytes) {
  if (bytes.size() < 4) throw_damaged("it is cut short");
  const std::uint32_t table_bytes = read_number(bytes, 0);
  bytes.remove_prefix(4);
  if (table_bytes == 0 || table_bytes % 4 != 0 || table_bytes > bytes.size()) {
    throw_damaged(fmt::format("its table of {} bytes does not lie in the {} that follow", table_bytes, bytes.size()));
  }
  table_.reserve(table_bytes / 4);
  for (std::size_t position = 0; position < table_bytes; position += 4) {
    table_.push_back(read_number(bytes, position));
  }
  replacements_ = bytes.substr(table_bytes);
  if (valid_utf8_prefix(replacements_) != replacements_.size()) throw_damaged("its replacements are not UTF-8");
  check_table();
  for (std::size_t byte = 0; byte < ascii_.size(); ++byte) {
    const auto character = static_cast<char>(byte);
    ascii_[byte] = replacement({&character, 1}).value_or(std::string_view(&character, 1));
  }
}

/// Whatever the text is, a look-up must stay within the table, and every replacement within the text of replacements
/// and between characters.
void PrecompiledCharacterMap::check_table() const {
  if ((table_[0] & is_value) != 0) throw_damaged("its table begins with a value");  // where every look-up begins
  for (std::size_t index = 0; index < table_.size(); ++index) {
    const std::uint32_t unit = table_[index];
    if ((unit & is_value) != 0) continue;
    const std::size_t leaf = index ^ offset(unit);
    if ((leaf | 0xFF) >= table_.size()) throw_damaged("its table points beyond itself");
    if (!has_value(unit)) continue;
    const std::size_t begin = value(table_[leaf]);
    if (begin > replacements_.size() ||
        (begin < replacements_.size() && (static_cast<unsigned char>(replacements_[begin]) & 0xC0u) == 0x80u)) {
      throw_damaged("its table points into no replacement");
    }
  }
}

template <class Visit> void PrecompiledCharacterMap::for_each_match(std::string_view text, Visit visit) const {
  std::size_t node = offset(table_[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (byte == 0 || label(table_[node]) != byte) return;
    const std::uint32_t unit = table_[node];
    node ^= offset(unit);
    if (!has_value(unit)) continue;
    const std::string_view rest = std::string_view(replacements_).substr(value(table_[node]));
    if (!visit(Match{i + 1, rest.substr(0, rest.find('\0'))})) return;
  }
}

std::optional<std::string_view> PrecompiledCharacterMap::replacement(std::string_view chunk) const {
  std::optional<std::string_view> first;
  for_each_match(chunk, [&](Match match) {
    first = match.replacement;
    return false;
  });
  return first;
}

std::optional<PrecompiledCharacterMap::Match> PrecompiledCharacterMap::longest_match(std::string_view text) const {
  std::optional<Match> longest;
  for_each_match(text, [&](Match match) {
    longest = match;
    return true;
  });
  return longest;
}

void PrecompiledCharacterMap::apply(std::string_view text, std::string& output) const {
  const auto is_ascii = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
  for (std::size_t position = 0; position < text.size();) {
    if (is_ascii(position) && text[position] != '\r' && (position + 1 == text.size() || is_ascii(position + 1))) {
      output += ascii_[static_cast<unsigned char>(text[position++])];  // a cluster of its own
      continue;
    }
    const std::size_t length = first_grapheme(text.substr(position));
    apply_to_cluster(text.substr(position, length), output);
    position += length;
  }
}

void PrecompiledCharacterMap::apply_to_cluster(std::string_view cluster, std::string& output) const {
  if (cluster.size() <= longest_replaced_cluster) {
    if (const auto replaced = replacement(cluster)) {
      output += *replaced;
      return;
    }
  }
  while (!cluster.empty()) {
    const std::string_view character = cluster.substr(0, first_character(cluster).n_bytes);
    output += replacement(character).value_or(character);
    cluster.remove_prefix(character.size());
  }
}

}  // namespace monomorph::data
