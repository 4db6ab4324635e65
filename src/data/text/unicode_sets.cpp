#include "data/text/unicode_sets.hpp"

#include "data/text/unicode_tables.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace monomorph::data::unicode {
namespace {

constexpr std::pair<std::string_view, std::string_view> long_names[] = {
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"surrogate", "Cs"},
    {"privateuse", "Co"},
    {"unassigned", "Cn"},
};

/// As the standard compares names: without case, blanks, underscores and hyphens.
std::string simple_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != ' ' && c != '_' && c != '-') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

std::string short_name(std::string_view name) {
  std::string simple = simple_name(name);
  for (const auto& [long_name, category] : long_names) {
    if (simple == long_name) return std::string(category);
  }
  if (!simple.empty()) simple[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(simple[0])));
  return simple;
}

CodePointSet assigned_with(std::string_view category) {
  std::vector<CodePointRange> ranges;
  for (const CategoryRange& range : category_ranges()) {
    if (std::string_view(range.category.data(), category.size()) == category)
      ranges.push_back({range.first, range.last});
  }
  return CodePointSet(std::move(ranges));
}

const CodePointSet surrogates{{0xD800, 0xDFFF}};

}  // namespace

std::optional<CodePointSet> general_category(std::string_view name) {
  const std::string category = short_name(name);
  if (category == "Cs") return surrogates;
  if (category == "Cn") return (assigned_with("") | surrogates).complement();
  if (category == "C") return assigned_with("C") | surrogates | (assigned_with("") | surrogates).complement();
  if (category == "Lc") return assigned_with("Lu") | assigned_with("Ll") | assigned_with("Lt");
  if (category.empty() || category.size() > 2) return std::nullopt;
  CodePointSet set = assigned_with(category);
  return set.empty() ? std::nullopt : std::optional(std::move(set));
}

std::size_t leading_white_space(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const Utf8Character character = first_character(text.substr(size));
    if (!white_space().contains(character.code_point)) break;
    size += character.n_bytes;
  }
  return size;
}

char32_t lower_case(char32_t code_point) {
  if (code_point < 0x80) return code_point >= 'A' && code_point <= 'Z' ? code_point | 0x20 : code_point;
  if (code_point == 0x130) return U'i';
  const auto runs = lower_case_runs();
  const auto run = std::lower_bound(runs.begin(), runs.end(), code_point,
                                    [](const LowerCaseRun& entry, char32_t value) { return entry.last < value; });
  if (run == runs.end() || code_point < run->first || (code_point - run->first) % run->step != 0) return code_point;
  return static_cast<char32_t>(static_cast<std::int32_t>(code_point) + run->difference);
}

}  // namespace monomorph::data::unicode
