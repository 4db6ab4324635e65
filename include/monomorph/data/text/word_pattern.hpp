#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace monomorph::data {

/// The patterns of pre-tokenisers for which there is a scanner. Each cuts every text into words without gaps.
enum class WordPattern : std::uint8_t {
  gpt2,    ///< also that of ByteLevel with use_regex
  cl100k,  ///< GPT-4's; also Llama 3's
  qwen2,   ///< as cl100k, every digit alone
  o200k,   ///< GPT-4o's; also gpt-oss'
  tekken,  ///< Mistral's: as o200k, every digit alone, no contractions
};

/// The pattern that a regular expression spells out, written as the tokenizer.json files of these models write it;
/// nothing if it is another one.
std::optional<WordPattern> known_word_pattern(std::string_view regex);

/// The regular expression, as tokenizer.json files write it.
std::string_view regex_of(WordPattern pattern);

/// The length of the first word of `text`, which is valid UTF-8, not empty and ends here. All words of a text together
/// take linear time.
std::size_t word_length(WordPattern pattern, std::string_view text);

/// The length of the first word of a text that may go on after `text`; 0 if what follows could change it. `text` is
/// valid UTF-8 and ends between characters.
std::size_t decided_word_length(WordPattern pattern, std::string_view text);

}  // namespace monomorph::data
