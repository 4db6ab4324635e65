#include "data/tokenizer/stages/text_matcher.hpp"

#include "data/text/characters.hpp"

namespace monomorph::data {
namespace {

std::variant<std::string, RegularExpression> prepare(const TextPattern& pattern) {
  if (pattern.is_regex) return RegularExpression(pattern.text);
  return pattern.text;
}

}  // namespace

TextMatcher::TextMatcher(const TextPattern& pattern) : what_(prepare(pattern)) {}

bool TextMatcher::is_one_character() const {
  const auto* literal = std::get_if<std::string>(&what_);
  return literal && data::is_one_character(*literal);
}

std::optional<TextSpan> TextMatcher::find(std::string_view text, std::size_t begin) const {
  if (const auto* regex = std::get_if<RegularExpression>(&what_)) return regex->find(text, begin);
  const auto& literal = std::get<std::string>(what_);
  const std::size_t found = text.find(literal, begin);
  if (found == std::string_view::npos) return std::nullopt;
  return TextSpan{found, found + literal.size()};
}

std::size_t TextMatcher::character_size(std::string_view text, std::size_t begin) {
  return begin < text.size() ? first_character(text.substr(begin)).n_bytes : 1;
}

}  // namespace monomorph::data
