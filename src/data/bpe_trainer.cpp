#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/bpe_trainer.hpp>
#include <monomorph/data/byte_level.hpp>
#include <monomorph/data/gpt2_words.hpp>
#include <monomorph/data/input_file.hpp>
#include <monomorph/data/interruption.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <set>

namespace monomorph::data {
namespace {

using WordIndex = std::uint32_t;

struct Word {
  std::vector<std::int32_t> tokens;
  std::int64_t count;
};

/// A pair that may be merged next, and the words in which it appeared.
struct Candidate {
  std::int64_t count;
  TokenPair pair;
  std::vector<WordIndex> words;
};

/// The order of the queue: the most frequent pair first, of equals the one with the smallest ids.
struct ComesLater {
  bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.count != b.count) return a.count < b.count;
    return a.pair.left != b.pair.left ? a.pair.left > b.pair.left : a.pair.right > b.pair.right;
  }
};

/// The merging itself. It keeps counts as the reference does, which never subtracts the merged pair's own occurrences
/// and may queue a pair twice when two ways lead to one token: both show in the merges of real texts.
class MergeLearner {
 public:
  MergeLearner(std::vector<std::string> vocabulary, std::vector<Word> words)
      : vocabulary_(std::move(vocabulary)), words_(std::move(words)) {
    for (std::size_t id = 0; id < vocabulary_.size(); ++id)
      ids_.emplace(vocabulary_[id], static_cast<std::int32_t>(id));
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::vector<std::int32_t>& tokens = words_[i].tokens;
      for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
        change({tokens[at], tokens[at + 1]}, words_[i].count, static_cast<WordIndex>(i));
      }
    }
    queue_changed_pairs();
  }

  void learn(std::size_t vocab_size, std::int64_t min_frequency) {
    while (vocabulary_.size() < vocab_size && !queue_.empty()) {
      throw_if_interrupted();
      Candidate top = queue_.top();
      queue_.pop();
      if (const std::int64_t count = *counts_.find(top.pair); count != top.count) {
        top.count = count;
        queue_.push(std::move(top));
        continue;
      }
      if (top.count < std::max<std::int64_t>(min_frequency, 1)) break;
      const std::int32_t merged = token_for(top.pair);
      merges_.push_back(top.pair);
      for (const WordIndex word : top.words) merge_in_word(word, top.pair, merged);
      queue_changed_pairs();
    }
  }

  std::vector<std::string> take_vocabulary() { return std::move(vocabulary_); }

  /// The merges by rank; of one that was learned twice the later rank counts.
  std::vector<TokenPair> take_merges() {
    std::vector<TokenPair> result;
    PairTable<bool> seen(merges_.size());
    for (auto merge = merges_.rbegin(); merge != merges_.rend(); ++merge) {
      if (!std::exchange(seen[*merge], true)) result.push_back(*merge);
    }
    std::reverse(result.begin(), result.end());
    return result;
  }

 private:
  std::int32_t token_for(TokenPair pair) {
    std::string merged =
        vocabulary_[static_cast<std::size_t>(pair.left)] + vocabulary_[static_cast<std::size_t>(pair.right)];
    const auto [known, is_new] = ids_.emplace(merged, static_cast<std::int32_t>(vocabulary_.size()));
    if (is_new) vocabulary_.push_back(std::move(merged));
    return known->second;
  }

  void change(TokenPair pair, std::int64_t count, WordIndex word) {
    counts_[pair] += count;
    if (count > 0) {
      std::vector<WordIndex>& words = changed_[pair];
      if (words.empty() || words.back() != word) words.push_back(word);
    }
  }

  void merge_in_word(WordIndex index, TokenPair pair, std::int32_t merged) {
    std::vector<std::int32_t>& tokens = words_[index].tokens;
    const std::int64_t count = words_[index].count;
    std::size_t size = 0;  // tokens[0, size) is done
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool matches = i + 1 < tokens.size() && tokens[i] == pair.left && tokens[i + 1] == pair.right;
      if (!matches) {
        tokens[size++] = tokens[i];
        continue;
      }
      if (size > 0) {
        change({tokens[size - 1], pair.left}, -count, index);
        change({tokens[size - 1], merged}, count, index);
      }
      if (i + 2 < tokens.size()) {
        change({pair.right, tokens[i + 2]}, -count, index);
        change({merged, tokens[i + 2]}, count, index);
      }
      tokens[size++] = merged;
      ++i;
    }
    tokens.resize(size);
  }

  void queue_changed_pairs() {
    for (auto& [pair, words] : changed_) {
      const std::int64_t count = *counts_.find(pair);
      if (count > 0) queue_.push({count, pair, std::move(words)});
    }
    changed_.clear();
  }

  struct PairHash {
    std::size_t operator()(TokenPair pair) const {
      return static_cast<std::size_t>(pair.left) * 0x9E3779B97F4A7C15u + static_cast<std::size_t>(pair.right);
    }
  };

  std::vector<std::string> vocabulary_;
  std::vector<Word> words_;
  std::unordered_map<std::string, std::int32_t> ids_;
  PairTable<std::int64_t> counts_;
  std::unordered_map<TokenPair, std::vector<WordIndex>, PairHash> changed_;
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> queue_;
  std::vector<TokenPair> merges_;
};

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
  if (settings.vocab_size > 1 << 24) {
    throw UsageError(fmt::format("[TOK-05] a vocabulary of {} is beyond the limit of {}; give a smaller --vocab-size",
                                 settings.vocab_size, 1 << 24));
  }
  if (settings.min_frequency < 0) throw UsageError("[TOK-05] --min-frequency must be 0 or more");
}

}  // namespace

BpeTrainer::BpeTrainer(BpeTrainerSettings settings) : settings_(std::move(settings)) { check_settings(settings_); }

void BpeTrainer::feed(std::string_view text) {
  const std::string repaired = valid_utf8_prefix(text) == text.size() ? "" : replace_invalid_utf8(text);
  if (!repaired.empty()) text = repaired;
  while (!text.empty()) {
    const std::size_t length = gpt2_word_length(text);
    ++word_counts_[std::string(text.substr(0, length))];
    text.remove_prefix(length);
  }
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
  std::vector<Word> words;
  for (const auto& [text, count] : word_counts_) {
    Word word{{}, count};
    for (const char byte : text) word.tokens.push_back(ids.at(byte_level_alphabet()[static_cast<unsigned char>(byte)]));
    words.push_back(std::move(word));
  }
  MergeLearner learner(std::move(definition.vocabulary), std::move(words));
  learner.learn(static_cast<std::size_t>(settings_.vocab_size), settings_.min_frequency);
  definition.vocabulary = learner.take_vocabulary();
  definition.merges = learner.take_merges();
  return definition;
}

TokenizerDefinition train_tokenizer(const std::string& text_path, const BpeTrainerSettings& settings) {
  BpeTrainer trainer(settings);
  LineReader lines(text_path);
  std::string text;
  while (const auto line = lines.next()) {
    text.assign(line->text);
    if (line->has_newline) text += '\n';
    trainer.feed(text);
  }
  if (text.empty()) throw UsageError("[DATA-04] " + in_quotes(text_path) + " is empty; give a file with some text");
  return trainer.train();
}

}  // namespace monomorph::data
