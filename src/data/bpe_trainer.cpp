#include <monomorph/core/error.hpp>
#include <monomorph/data/bpe_trainer.hpp>
#include <monomorph/data/byte_level.hpp>
#include <monomorph/data/merge_table.hpp>
#include <monomorph/data/utf8.hpp>

#include "data/training/merge_learner.hpp"
#include "data/word_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monomorph::data {
namespace {

void check_settings(const BpeTrainerSettings& settings) {
  const std::set<std::string> distinct(settings.special_tokens.begin(), settings.special_tokens.end());
  if (distinct.size() != settings.special_tokens.size() || distinct.contains("")) {
    throw UsageError("[TOK-05] every special token must have some text and be given once; change --special");
  }
  const auto n_smallest = static_cast<std::int64_t>(256 + distinct.size());
  if (settings.vocab_size < n_smallest) {
    throw UsageError(
        fmt::format("[TOK-05] a vocabulary of {} has no room for the 256 bytes and {} special tokens; give "
                    "--vocab-size {} or more",
                    settings.vocab_size, distinct.size(), n_smallest));
  }
  if (settings.vocab_size > 1 << MergeTable::id_bits) {
    throw UsageError(fmt::format("[TOK-05] a vocabulary of {} is beyond the limit of {}; give a smaller --vocab-size",
                                 settings.vocab_size, 1 << MergeTable::id_bits));
  }
  if (settings.min_frequency < 0) throw UsageError("[TOK-05] --min-frequency must be 0 or more");
}

}  // namespace

BpeTrainer::BpeTrainer(BpeTrainerSettings settings) : settings_(std::move(settings)) { check_settings(settings_); }

void BpeTrainer::count_words(std::string_view text, WordCounts& counts) const {
  std::string repaired;
  if (valid_utf8_prefix(text) != text.size()) text = repaired = replace_invalid_utf8(text);
  with_pattern(settings_.pattern, [&]<WordPattern pattern>() {
    TextScanner scanner(text.data() + text.size());
    for (const char* position = text.data(); position != scanner.end();) {
      const char* end = word_end<pattern>(scanner, position);
      counts.add({position, static_cast<std::size_t>(end - position)}, scanner.end());
      position = end;
    }
  });
}

TokenizerDefinition BpeTrainer::train() const {
  TokenizerDefinition definition;
  for (const std::string& token : settings_.special_tokens) {
    definition.added_tokens.push_back(
        {token, static_cast<std::int32_t>(definition.vocabulary.size()), /*special=*/true, /*normalized=*/false});
    definition.vocabulary.push_back(token);
  }
  std::unordered_map<std::string, std::int32_t> ids;
  for (const std::string& token : definition.vocabulary) ids.emplace(token, static_cast<std::int32_t>(ids.size()));
  std::vector<std::string> alphabet(byte_level_alphabet().begin(), byte_level_alphabet().end());
  std::sort(alphabet.begin(), alphabet.end());  // UTF-8 sorts as its code points do
  for (const std::string& letter : alphabet) {
    if (ids.emplace(letter, static_cast<std::int32_t>(ids.size())).second) definition.vocabulary.push_back(letter);
  }
  MergeLearner learner(std::move(definition.vocabulary));
  std::vector<std::int32_t> tokens;
  word_counts_.for_each([&](std::string_view word, std::int64_t count) {
    tokens.clear();
    for (const char byte : word) tokens.push_back(ids.at(byte_level_alphabet()[static_cast<unsigned char>(byte)]));
    learner.add_word(tokens, count);
  });
  learner.learn(static_cast<std::size_t>(settings_.vocab_size), settings_.min_frequency);
  definition.vocabulary = learner.take_vocabulary();
  definition.model = tokenizer_models::Bpe{.merges = learner.take_merges()};
  if (settings_.pattern != WordPattern::gpt2) {
    const TextPattern pattern{std::string(regex_of(settings_.pattern)), /*is_regex=*/true};
    definition.pre_tokenizers = {pre_tokenizers::Split{pattern, pre_tokenizers::Behavior::isolated},
                                 pre_tokenizers::ByteLevel{.add_prefix_space = false, .use_regex = false}};
  }
  return definition;
}

}  // namespace monomorph::data
