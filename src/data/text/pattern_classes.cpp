#include "data/text/pattern_classes.hpp"

#include "data/text/pcre2_class.hpp"
#include "data/text/script_additions.hpp"
#include "data/text/unicode_sets.hpp"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cctype>

namespace monomorph::data {
namespace {

const CodePointSet ascii{{0, 0x7F}};
// ¹, ², ³, ¼, ½, ¾: the package's engine takes them from another table.
const CodePointSet word_outside_of_brackets{{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}};
const CodePointSet hexadecimal_digits{{'0', '9'}, {'A', 'F'}, {'a', 'f'}};

std::string ranges_for_pcre2(const CodePointSet& set) {
  std::string text;
  for (const auto [first, last] : set.ranges()) {
    text += fmt::format("\\x{{{:x}}}", std::uint32_t{first});
    if (last != first) text += fmt::format("-\\x{{{:x}}}", std::uint32_t{last});
  }
  return text;
}

/// The set with what differs from its members only in case.
CodePointSet closed_under_case(const CodePointSet& set) {
  std::vector<CodePointRange> ranges(set.ranges().begin(), set.ranges().end());
  constexpr char32_t last_with_case = 0x1FFFF;
  for (char32_t code_point = 0; code_point <= last_with_case; ++code_point) {
    if (code_point == 0x130 || code_point == 0x131) continue;  // İ and ı are no case of i
    const auto self = static_cast<utf8proc_int32_t>(code_point);
    const utf8proc_int32_t others[] = {utf8proc_tolower(self), utf8proc_toupper(self),
                                       utf8proc_tolower(utf8proc_toupper(self))};
    for (const utf8proc_int32_t value : others) {
      if (value == self) continue;
      const auto other = static_cast<char32_t>(value);
      if (set.contains(code_point)) ranges.push_back({other, other});
      if (set.contains(other)) ranges.push_back({code_point, code_point});
    }
  }
  return CodePointSet(std::move(ranges));
}

std::string simple_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != ' ' && c != '_' && c != '-') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

CodePointSet category(std::string_view name) { return *unicode::general_category(name); }

CodePointSet binary_property(const char* names) { return pcre2_class_members(names).value_or(CodePointSet{}); }

/// The class that has this name within [[: :]]; nothing if there is none.
std::optional<CodePointSet> posix_class(const std::string& name) {
  if (name == "alpha") return category("L") | category("Nl") | binary_property("\\p{Alphabetic}");
  if (name == "digit") return category("Nd");
  if (name == "alnum") return *posix_class("alpha") | category("Nd");
  if (name == "upper") return category("Lu") | binary_property("\\p{Uppercase}");
  if (name == "lower") return category("Ll") | binary_property("\\p{Lowercase}");
  if (name == "space") return unicode::white_space();
  if (name == "blank") return category("Zs") | CodePointSet{{'\t', '\t'}};
  if (name == "cntrl") return category("Cc");
  if (name == "punct") return category("P") | category("S");
  if (name == "word") return unicode::pattern_word() - word_outside_of_brackets;
  if (name == "xdigit") return hexadecimal_digits;
  if (name == "ascii") return ascii;
  const CodePointSet invisible = unicode::white_space() | category("Cc") | category("Cn") | category("Cs");
  if (name == "graph") return invisible.complement();
  if (name == "print") return invisible.complement() | category("Zs");
  return std::nullopt;
}

CodePointSet additions_to(std::string_view script) {
  std::vector<CodePointRange> ranges;
  for (const unicode::ScriptAddition& addition : unicode::script_additions()) {
    if (addition.script == script) ranges.push_back(addition.range);
  }
  return CodePointSet(std::move(ranges));
}

}  // namespace

const CodePointSet& PatternClassReader::known_to_pcre2(const std::string& names) {
  const auto known = known_to_pcre2_.find(names);
  if (known != known_to_pcre2_.end()) return known->second;
  return known_to_pcre2_.emplace(names, pcre2_class_members(names).value_or(CodePointSet{})).first->second;
}

PatternClass PatternClassReader::shortened(CodePointSet set, const std::string& names) {
  const CodePointSet& known = known_to_pcre2(names);
  const bool is_subset = (known - set).empty() && (set - pcre2_class_domain()).empty();
  if (known.empty() || !is_subset) return {std::move(set)};
  std::string text = names + ranges_for_pcre2(set - known);
  return {std::move(set), std::move(text)};
}

PatternClass PatternClassReader::word(bool within_brackets) {
  return shortened(within_brackets ? unicode::pattern_word() - word_outside_of_brackets : unicode::pattern_word(),
                   "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}");
}

PatternClass PatternClassReader::named(std::string_view name) {
  const std::string simple = simple_name(name);
  if (simple == "any") return {CodePointSet{}.complement()};
  if (const auto set = unicode::general_category(name)) return shortened(*set, fmt::format("\\p{{{}}}", name));
  if (simple == "word") return word();
  if (simple == "punct") return shortened(category("P"), "\\p{P}");
  if (const auto set = posix_class(simple)) return {*set};
  if (const auto script = pcre2_class_members(fmt::format("\\p{{sc:{}}}", name))) {
    return shortened(*script | additions_to(simple), fmt::format("\\p{{sc:{}}}", name));
  }
  if (const auto set = pcre2_class_members(fmt::format("\\p{{{}}}", name))) return {*set};
  reader_.throw_unsupported(fmt::format("the property {}", name));
}

PatternClass PatternClassReader::property(bool negated) {
  std::string_view name;
  if (reader_.skip_if("{")) {
    if (reader_.skip_if("^")) negated = !negated;
    name = reader_.take_until('}');
  } else {
    static constexpr std::string_view letters = "CLMNPSZ";
    const std::size_t found = letters.find(reader_.peek());
    if (reader_.at_end() || found == std::string_view::npos) reader_.throw_malformed("\\p needs a name");
    name = letters.substr(found, 1);
    reader_.skip(1);
  }
  const bool is_name = std::all_of(name.begin(), name.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ' ' || c == '-'; });
  if (name.empty() || !is_name) reader_.throw_unsupported(fmt::format("the property {}", name));
  PatternClass set = named(name);
  if (negated) return {set.set.complement()};
  return set;
}

std::optional<PatternClass> PatternClassReader::escape(char32_t letter, bool within_brackets) {
  switch (letter) {
    case 'd':
      return shortened(category("Nd"), "\\p{Nd}");
    case 'D':
      return PatternClass{category("Nd").complement()};
    case 'w':
      return word(within_brackets);
    case 'W':
      return PatternClass{word(within_brackets).set.complement()};
    case 's':
      return PatternClass{unicode::white_space()};
    case 'S':
      return PatternClass{unicode::white_space().complement()};
    case 'h':
      return PatternClass{hexadecimal_digits};
    case 'H':
      return PatternClass{hexadecimal_digits.complement()};
    case 'p':
      return property(false);
    case 'P':
      return property(true);
    default:
      return std::nullopt;
  }
}

/// What a pair of brackets holds so far.
struct PatternClassReader::Content {
  PatternClass all{{}, ""};

  void add(const PatternClass& part) {
    all.set = all.set | part.set;
    if (all.short_form) *all.short_form += part.short_form.value_or(ranges_for_pcre2(part.set));
  }
};

std::string PatternClassReader::written(const PatternClass& set) {
  if (set.set.empty()) return "(?!)";
  return fmt::format("[{}]", set.short_form.value_or(ranges_for_pcre2(set.set)));
}

std::string PatternClassReader::brackets(bool caseless) {
  const bool is_negated = reader_.peek() == '^';
  const PatternClass content = read_brackets(caseless);
  if (!is_negated || !content.short_form) return written(content);
  return fmt::format("[^{}]", *content.short_form);  // it is what is excluded
}

/// The short form of a negated set is that of what it excludes.
PatternClass PatternClassReader::read_brackets(bool caseless) {
  const bool is_negated = reader_.skip_if("^");
  Content content;
  std::optional<CodePointSet> intersection;
  for (bool is_first = true;; is_first = false) {
    if (reader_.at_end()) reader_.throw_malformed("a ] is missing");
    if (!is_first && reader_.skip_if("]")) break;
    if (reader_.skip_if("&&")) {
      intersection = intersection ? *intersection & content.all.set : content.all.set;
      content = Content{};
      continue;
    }
    read_item(content, caseless);
  }
  PatternClass result = std::move(content.all);
  if (intersection) result = {result.set & *intersection};
  if (caseless) result = {closed_under_case(result.set)};
  if (is_negated) result.set = result.set.complement();
  if (is_negated && result.short_form && result.short_form->empty()) result.short_form.reset();
  return result;
}

void PatternClassReader::read_item(Content& content, bool caseless) {
  if (reader_.skip_if("[:")) return add_posix_class(content);
  if (reader_.skip_if("[")) return content.add({read_brackets(caseless).set});
  if (!reader_.skip_if("\\")) return read_range_from(reader_.take(), content);
  const char32_t letter = reader_.take();
  if (const auto set = escape(letter, true)) {
    if (reader_.peek() == '-' && reader_.peek(1) != ']') reader_.throw_malformed("a set begins a range");
    return content.add(*set);
  }
  if (letter == 'b') return read_range_from(U'\b', content);
  const auto character = reader_.take_character_escape(letter);
  if (!character) reader_.throw_unsupported(fmt::format("\\{} within brackets", static_cast<char>(letter)));
  read_range_from(*character, content);
}

void PatternClassReader::read_range_from(char32_t first, Content& content) {
  const bool is_range = reader_.peek() == '-' && reader_.peek(1) != ']' && reader_.peek(1) != '\0';
  if (!is_range) return content.add({CodePointSet{{first, first}}});
  reader_.skip(1);
  char32_t last = reader_.take();
  if (last == '[') reader_.throw_malformed("a set ends a range");
  if (last == '\\') {
    const char32_t letter = reader_.take();
    const auto character = letter == 'b' ? std::optional(U'\b') : reader_.take_character_escape(letter);
    if (!character) reader_.throw_malformed("a set ends a range");
    last = *character;
  }
  if (last < first) reader_.throw_malformed("a range runs backwards");
  content.add({CodePointSet{{first, last}}});
}

void PatternClassReader::add_posix_class(Content& content) {
  const bool is_negated = reader_.skip_if("^");
  const std::string name(reader_.take_until(':'));
  const auto set = posix_class(name);
  if (!set || !reader_.skip_if("]")) reader_.throw_malformed("there is no class [:" + name + ":]");
  content.add({is_negated ? set->complement() : *set});
}

}  // namespace monomorph::data
