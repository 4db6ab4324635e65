#include <monomorph/data/text/word_pattern.hpp>

#include "data/text/word_scanner.hpp"

#include <array>

namespace monomorph::data {
namespace {

struct Spelling {
  WordPattern pattern;
  std::string_view regex;
};

// The first of each pattern is the one that is written.
constexpr std::array<Spelling, 6> spellings{{
    {WordPattern::gpt2, R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {WordPattern::gpt2, R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {WordPattern::cl100k,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
     R"(\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {WordPattern::qwen2, R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
                         R"(\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {WordPattern::o200k,
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
     R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {WordPattern::tekken, R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                          R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                          R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
}};

struct ScannedWord {
  std::size_t length;
  bool met_end;
};

ScannedWord scan(WordPattern pattern, std::string_view text) {
  TextScanner scanner(text.data() + text.size());
  const char* end = with_pattern(pattern, [&]<WordPattern p>() { return word_end<p>(scanner, text.data()); });
  return {static_cast<std::size_t>(end - text.data()), scanner.met_end()};
}

}  // namespace

std::optional<WordPattern> known_word_pattern(std::string_view regex) {
  for (const Spelling& spelling : spellings) {
    if (spelling.regex == regex) return spelling.pattern;
  }
  return std::nullopt;
}

std::string_view regex_of(WordPattern pattern) {
  for (const Spelling& spelling : spellings) {
    if (spelling.pattern == pattern) return spelling.regex;
  }
  return {};
}

std::size_t word_length(WordPattern pattern, std::string_view text) { return scan(pattern, text).length; }

std::size_t decided_word_length(WordPattern pattern, std::string_view text) {
  if (text.empty()) return 0;
  const ScannedWord word = scan(pattern, text);
  return word.met_end ? 0 : word.length;
}

}  // namespace monomorph::data
