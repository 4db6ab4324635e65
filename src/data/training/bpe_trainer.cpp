#include <monomorph/core/error.hpp>
#include <monomorph/data/bpe/merge_table.hpp>
#include <monomorph/data/text/byte_level.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/text/word_pattern.hpp>
#include <monomorph/data/training/bpe_trainer.hpp>

#include "data/training/merge_learner.hpp"
#include "data/training/word_cutter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monomorph::data {
namespace {

void check_settings(const BpeTrainerSettings& settings) {
  const std::set<std::string> distinct(settings.special_tokens.begin(), settings.special_tokens.end());
  if (distinct.size() != settings.special_tokens.size() || distinct.contains("")) {
    throw UsageError("TOK-05", "every special token must have some text and be given once; change --special");
  }
  const auto n_smallest = static_cast<std::int64_t>(256 + distinct.size());
  if (settings.vocab_size < n_smallest) {
    throw UsageError("TOK-05",
                     fmt::format("a vocabulary of {} has no room for the 256 bytes and {} special tokens; give "
                                 "--vocab-size {} or more",
                                 settings.vocab_size, distinct.size(), n_smallest));
  }
  if (settings.vocab_size > 1 << MergeTable::id_bits) {
    throw UsageError("TOK-05", fmt::format("a vocabulary of {} is beyond the limit of {}; give a smaller --vocab-size",
                                           settings.vocab_size, 1 << MergeTable::id_bits));
  }
  if (settings.min_frequency < 0) throw UsageError("TOK-05", "--min-frequency must be 0 or more");
}

}  // namespace

std::vector<PreTokenizer> byte_level_words(std::string_view regex) {
  if (known_word_pattern(regex) == WordPattern::gpt2) return BpeTrainerSettings().pre_tokenizers;
  return {pre_tokenizers::Split{{std::string(regex), /*is_regex=*/true}, pre_tokenizers::Behavior::isolated},
          pre_tokenizers::ByteLevel{.add_prefix_space = false, .use_regex = false}};
}

BpeTrainer::BpeTrainer(BpeTrainerSettings settings) : settings_(std::move(settings)) {
  check_settings(settings_);
  cutter_ = std::make_unique<WordCutter>(settings_.pre_tokenizers);
}

BpeTrainer::~BpeTrainer() = default;

void BpeTrainer::count_words(std::string_view text, WordCounts& counts) const {
  if (valid_utf8_prefix(text) == text.size()) return cutter_->count_words(text, counts);
  cutter_->count_words(replace_invalid_utf8(text), counts);
}

TokenizerDefinition BpeTrainer::train(const ProgressCallback& progress) const {
  TokenizerDefinition definition;
  definition.pre_tokenizers = settings_.pre_tokenizers;
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
  learner.learn(static_cast<std::size_t>(settings_.vocab_size), settings_.min_frequency, progress);
  definition.vocabulary = learner.take_vocabulary();
  definition.model = tokenizer_models::Bpe{.merges = learner.take_merges()};
  return definition;
}

}  // namespace monomorph::data
