#include "train/run/weights/gguf_byte_level.hpp"

#include "train/run/weights/gguf_vocabulary.hpp"

#include <monomorph/data/text/byte_level.hpp>
#include <monomorph/data/text/word_pattern.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace monomorph::train {
namespace {

namespace pre_tokenizers = data::pre_tokenizers;
using data::WordPattern;

/// How llama.cpp names a way to cut words. The same pattern has two names, of which one looks for whole words among
/// the tokens first.
struct PreTokenizerName {
  WordPattern pattern;
  bool single_digits;  ///< are cut out before
  bool ignore_merges;
  std::string_view name;
};
constexpr std::array<PreTokenizerName, 7> pre_tokenizer_names{{{WordPattern::gpt2, false, false, "gpt-2"},
                                                               {WordPattern::gpt2, true, false, "smollm"},
                                                               {WordPattern::cl100k, false, true, "llama-bpe"},
                                                               {WordPattern::cl100k, false, false, "dbrx"},
                                                               {WordPattern::qwen2, false, false, "qwen2"},
                                                               {WordPattern::o200k, false, false, "gpt-4o"},
                                                               {WordPattern::tekken, false, true, "tekken"}}};

struct Words {
  WordPattern pattern = WordPattern::gpt2;
  bool single_digits = false;
};

/// @throws UsageError [GGUF-02]
Words words_of(const std::vector<data::PreTokenizer>& steps) {
  const auto* const byte_level = steps.empty() ? nullptr : std::get_if<pre_tokenizers::ByteLevel>(&steps.back());
  if (byte_level == nullptr) refuse_gguf_tokenizer("words that are not cut into bytes");
  if (byte_level->add_prefix_space) refuse_gguf_tokenizer("a space before each text");
  if (steps.size() == 1 && byte_level->use_regex) return {};
  const auto* const digits = std::get_if<pre_tokenizers::Digits>(&steps.front());
  if (steps.size() == 2 && digits != nullptr && digits->individual && byte_level->use_regex)
    return {.single_digits = true};
  const auto* const split = std::get_if<pre_tokenizers::Split>(&steps.front());
  const bool is_isolating = split != nullptr && split->pattern.is_regex && !split->invert &&
                            split->behavior == pre_tokenizers::Behavior::isolated;
  if (steps.size() != 2 || !is_isolating || byte_level->use_regex)
    refuse_gguf_tokenizer("these steps before the cutting of words");
  const auto pattern = data::known_word_pattern(split->pattern.text);
  if (!pattern) refuse_gguf_tokenizer("this pattern of words: " + split->pattern.text);
  return {*pattern};
}

std::string_view pre_tokenizer_name(const Words& words, bool ignore_merges) {
  const auto found = std::ranges::find_if(pre_tokenizer_names, [&](const PreTokenizerName& known) {
    return known.pattern == words.pattern && known.single_digits == words.single_digits &&
           known.ignore_merges == ignore_merges;
  });
  if (found == pre_tokenizer_names.end())
    refuse_gguf_tokenizer(fmt::format("ignore_merges {} and this pattern of words: {}{}", ignore_merges,
                                      words.single_digits ? "digits alone, " : "", data::regex_of(words.pattern)));
  return found->name;
}

/// Of these patterns llama.cpp has others, for which marks are no letters.
void note_words(const Words& words, std::vector<std::string>& notes) {
  if (words.pattern == WordPattern::o200k || words.pattern == WordPattern::tekken)
    notes.emplace_back(
        "llama.cpp cuts words before combining marks, as Hindi, Thai and Arabic have them, and this tokeniser does "
        "not");
}

/// The only one that changes next to no text is NFC.
void check_normalizers(const std::vector<data::Normalizer>& normalizers, std::vector<std::string>& notes) {
  if (normalizers.empty()) return;
  const auto* const form = std::get_if<data::normalizers::Unicode>(&normalizers.front());
  if (normalizers.size() > 1 || form == nullptr || form->form != data::normalizers::UnicodeForm::nfc)
    refuse_gguf_tokenizer("normalizers other than NFC");
  notes.emplace_back(
      "this tokeniser brings texts into Unicode's form NFC, which nearly all are in, and llama.cpp does not");
}

void check_bytes(const data::Tokenizer& tokenizer) {
  for (const std::string& character : data::byte_level_alphabet())
    if (!tokenizer.find(character))
      refuse_gguf_tokenizer("bytes that have no token of their own; of a SentencePiece file take the tokenizer.json");
}

std::vector<std::string> merges_of(const data::Tokenizer& tokenizer, const data::tokenizer_models::Bpe& bpe) {
  std::vector<std::string> merges;
  const std::vector<std::string>& tokens = tokenizer.definition().vocabulary;
  const auto text = [&](std::int32_t id) -> const std::string& { return tokens[static_cast<std::size_t>(id)]; };
  for (const data::TokenPair& pair : bpe.merges) merges.push_back(text(pair.left) + " " + text(pair.right));
  return merges;
}

}  // namespace

void add_byte_level_bpe(const data::Tokenizer& tokenizer, const data::tokenizer_models::Bpe& bpe,
                        std::int64_t vocab_size, runtime::GgufMetadata& metadata, std::vector<std::string>& notes) {
  const data::TokenizerDefinition& definition = tokenizer.definition();
  if (!bpe.continuing_subword_prefix.empty() || !bpe.end_of_word_suffix.empty())
    refuse_gguf_tokenizer("marks within or behind words");
  check_normalizers(definition.normalizers, notes);
  const Words words = words_of(definition.pre_tokenizers);
  const std::string_view name = pre_tokenizer_name(words, bpe.ignore_merges);
  note_words(words, notes);
  check_bytes(tokenizer);
  const GgufVocabulary vocabulary = gguf_vocabulary(tokenizer, vocab_size);
  metadata.add("tokenizer.ggml.model", std::string_view("gpt2"));
  metadata.add("tokenizer.ggml.pre", name);
  metadata.add("tokenizer.ggml.tokens", std::span<const std::string>(vocabulary.tokens));
  metadata.add("tokenizer.ggml.token_type", std::span<const std::int32_t>(vocabulary.types));
  metadata.add("tokenizer.ggml.merges", std::span<const std::string>(merges_of(tokenizer, bpe)));
}

}  // namespace monomorph::train
