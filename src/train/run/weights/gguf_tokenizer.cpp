#include "train/run/weights/gguf_tokenizer.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/text/word_pattern.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace monomorph::train {
namespace {

[[noreturn]] void refuse(std::string_view feature) {
  throw UsageError("GGUF-02",
                   fmt::format("llama.cpp has no tokenizer with {}; export to a folder with --output", feature));
}

/// How llama.cpp names a way to cut words. The same pattern has two names, of which one looks for whole words among
/// the tokens first.
struct PreTokenizerName {
  data::WordPattern pattern;
  bool ignore_merges;
  std::string_view name;
};
constexpr std::array<PreTokenizerName, 6> pre_tokenizer_names{{{data::WordPattern::gpt2, false, "gpt-2"},
                                                               {data::WordPattern::cl100k, true, "llama-bpe"},
                                                               {data::WordPattern::cl100k, false, "dbrx"},
                                                               {data::WordPattern::qwen2, false, "qwen2"},
                                                               {data::WordPattern::o200k, false, "gpt-4o"},
                                                               {data::WordPattern::tekken, true, "tekken"}}};

/// The pattern of words of a byte-level tokenizer.
data::WordPattern word_pattern(const std::vector<data::PreTokenizer>& steps) {
  const auto* const byte_level = steps.empty() ? nullptr : std::get_if<data::pre_tokenizers::ByteLevel>(&steps.back());
  if (byte_level == nullptr) refuse("words that are not cut into bytes");
  if (byte_level->add_prefix_space) refuse("a space before each text");
  if (steps.size() == 1 && byte_level->use_regex) return data::WordPattern::gpt2;
  const auto* const split = std::get_if<data::pre_tokenizers::Split>(&steps.front());
  const bool is_isolating = split != nullptr && split->pattern.is_regex && !split->invert &&
                            split->behavior == data::pre_tokenizers::Behavior::isolated;
  if (steps.size() != 2 || !is_isolating || byte_level->use_regex) refuse("these steps before the cutting of words");
  const auto pattern = data::known_word_pattern(split->pattern.text);
  if (!pattern) refuse("this pattern of words: " + split->pattern.text);
  return *pattern;
}

std::string_view pre_tokenizer_name(const data::TokenizerDefinition& definition, bool ignore_merges) {
  const data::WordPattern pattern = word_pattern(definition.pre_tokenizers);
  const auto found = std::ranges::find_if(pre_tokenizer_names, [&](const PreTokenizerName& known) {
    return known.pattern == pattern && known.ignore_merges == ignore_merges;
  });
  if (found == pre_tokenizer_names.end())
    refuse(fmt::format("ignore_merges {} and this pattern of words: {}", ignore_merges, data::regex_of(pattern)));
  return found->name;
}

/// The types of tokens, with their numbers in files.
enum TokenType : std::int32_t { normal = 1, control = 3, user_defined = 4, unused = 5 };

void add_tokens(const data::Tokenizer& tokenizer, std::int64_t vocab_size, runtime::GgufMetadata& metadata) {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  const auto& added = tokenizer.definition().added_tokens;
  for (std::int32_t id = 0; id < vocab_size; ++id) {
    const bool is_there = id < tokenizer.vocab_size() && tokenizer.has_token(id);
    const auto as_added = std::ranges::find(added, id, &data::AddedToken::id);
    tokens.push_back(as_added != added.end() ? as_added->content
                     : is_there              ? tokenizer.token_of(id)
                                             : fmt::format("[PAD{}]", id));
    types.push_back(!is_there ? unused : as_added == added.end() ? normal : as_added->special ? control : user_defined);
  }
  metadata.add("tokenizer.ggml.tokens", std::span<const std::string>(tokens));
  metadata.add("tokenizer.ggml.token_type", std::span<const std::int32_t>(types));
}

void add_merges(const data::Tokenizer& tokenizer, const std::vector<data::TokenPair>& pairs,
                runtime::GgufMetadata& metadata) {
  std::vector<std::string> merges;
  for (const data::TokenPair& pair : pairs)
    merges.push_back(tokenizer.token_of(pair.left) + " " + tokenizer.token_of(pair.right));
  metadata.add("tokenizer.ggml.merges", std::span<const std::string>(merges));
}

/// What begins and ends a text, and whether the tokenizer puts it there.
void add_ends(const data::Tokenizer& tokenizer, runtime::GgufMetadata& metadata) {
  const auto before = tokenizer.ids_before_text(), after = tokenizer.ids_after_text();
  if (before.size() > 1 || after.size() > 1) refuse("several tokens before or behind each text");
  const auto add = [&](const std::string& name, std::span<const std::int32_t> ids) {
    const auto id = ids.empty() ? tokenizer.find("<|endoftext|>") : std::optional(ids.front());
    if (id) metadata.add(fmt::format("tokenizer.ggml.{}_token_id", name), static_cast<std::uint32_t>(*id));
    metadata.add_flag(fmt::format("tokenizer.ggml.add_{}_token", name), !ids.empty());
  };
  add("bos", before);
  add("eos", after);
}

}  // namespace

void add_tokenizer(const data::Tokenizer& tokenizer, std::int64_t vocab_size, runtime::GgufMetadata& metadata) {
  const data::TokenizerDefinition& definition = tokenizer.definition();
  const auto* const bpe = std::get_if<data::tokenizer_models::Bpe>(&definition.model);
  if (bpe == nullptr || bpe->unk_token || !bpe->continuing_subword_prefix.empty() || !bpe->end_of_word_suffix.empty())
    refuse("a model other than byte-level BPE");
  if (!definition.normalizers.empty()) refuse("normalizers");
  metadata.add("tokenizer.ggml.model", std::string_view("gpt2"));
  metadata.add("tokenizer.ggml.pre", pre_tokenizer_name(definition, bpe->ignore_merges));
  add_tokens(tokenizer, vocab_size, metadata);
  add_merges(tokenizer, bpe->merges, metadata);
  add_ends(tokenizer, metadata);
}

}  // namespace monomorph::train
