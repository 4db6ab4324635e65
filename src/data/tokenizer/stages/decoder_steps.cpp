#include "data/text/characters.hpp"
#include "data/tokenizer/stages/decoder_stages.hpp"

#include <charconv>
#include <utility>

namespace monomorph::data {
namespace {

// The spaces that tokenizing put before punctuation and shortened words, as the package takes them out.
constexpr std::pair<std::string_view, std::string_view> clean_ups[] = {
    {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
    {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};

}  // namespace

std::string decode_metaspace(const decoders::Metaspace& settings, std::string_view token, TokenPlace place) {
  const bool drops = place.is_first && settings.prepend_scheme != pre_tokenizers::PrependScheme::never;
  return replace_all(token, settings.replacement, drops ? "" : " ");
}

std::string decode_word_piece(const decoders::WordPiece& settings, std::string_view token, TokenPlace place) {
  std::string text(token);
  if (!place.is_first) {
    if (token.starts_with(settings.prefix)) {
      text.erase(0, settings.prefix.size());
    } else {
      text.insert(text.begin(), ' ');
    }
  }
  if (!settings.cleanup) return text;
  for (const auto& [what, content] : clean_ups) text = replace_all(text, what, content);
  return text;
}

std::string decode_bpe(const decoders::Bpe& settings, std::string_view token, TokenPlace place) {
  if (!settings.suffix.empty()) return replace_all(token, settings.suffix, place.is_last ? "" : " ");
  if (place.is_last) return std::string(token);
  std::string text = " ";  // an empty suffix is found around every character
  for_each_character(token, [&](char32_t, std::string_view bytes) { text.append(bytes).append(" "); });
  return text;
}

std::string decode_strip(const decoders::Strip& settings, std::string_view token) {
  const std::string_view content = settings.content;
  for (std::size_t i = 0; i < settings.start && token.starts_with(content); ++i) token.remove_prefix(content.size());
  for (std::size_t i = 0; i < settings.stop && token.ends_with(content); ++i) token.remove_suffix(content.size());
  return std::string(token);
}

std::optional<char> decode_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  unsigned value = 0;
  const std::string_view digits = token.substr(token[3] == '+' ? 4 : 3, token[3] == '+' ? 1 : 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return static_cast<char>(value);
}

}  // namespace monomorph::data
