#pragma once
#include <monomorph/data/bpe/pair_table.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace monomorph::data {

/// Learns merges from words and their counts: again and again the most frequent pair, of equals the one with the
/// smallest ids. Counts are kept as the reference (BpeTrainer of the `tokenizers` package) keeps them: it never
/// subtracts the merged pair's own occurrences, and queues a pair once more when another way leads to one of its
/// tokens. Both show in the merges of real texts.
class MergeLearner {
 public:
  /// @param vocabulary the tokens to begin with, by id
  explicit MergeLearner(std::vector<std::string> vocabulary);

  void add_word(std::span<const std::int32_t> tokens, std::int64_t count);

  /// Merges until the vocabulary has `vocab_size` tokens or no pair appears `min_frequency` times.
  /// @param progress told of every merge   @throws [DATA-11] if interrupted
  void learn(std::size_t vocab_size, std::int64_t min_frequency, const ProgressCallback& progress);

  std::vector<std::string> take_vocabulary() { return std::move(vocabulary_); }

  /// The merges by rank; of one that was learned twice the later rank counts.
  std::vector<TokenPair> take_merges();

 private:
  using WordIndex = std::uint32_t;

  struct Word {
    std::size_t begin;  ///< in tokens_
    std::uint32_t length;
    std::int64_t count;
  };
  /// What is known of a pair: 0 in indices_ stands for "not met yet".
  struct Pair {
    TokenPair tokens;
    std::int64_t count = 0;
    std::uint32_t changed_in = 0;        ///< the round in which it last appeared in new places
    std::vector<WordIndex> new_words{};  ///< those places
  };
  /// A pair that may be merged next, and the words in which it appeared.
  struct Candidate {
    std::int64_t count;
    TokenPair tokens;
    std::uint32_t pair;   ///< in pairs_
    std::uint32_t words;  ///< in word_lists_
  };
  struct ComesLater {
    bool operator()(const Candidate& a, const Candidate& b) const {
      if (a.count != b.count) return a.count < b.count;
      return a.tokens.left != b.tokens.left ? a.tokens.left > b.tokens.left : a.tokens.right > b.tokens.right;
    }
  };

  std::int32_t token_for(TokenPair pair);
  Pair& pair_of(TokenPair tokens);
  void subtract(TokenPair tokens, std::int64_t count) { pair_of(tokens).count -= count; }
  void add(TokenPair tokens, std::int64_t count, WordIndex word);
  void merge_in_word(WordIndex index, TokenPair pair, std::int32_t merged);
  void queue_changed_pairs();
  void push(Candidate candidate);
  Candidate pop();

  std::vector<std::string> vocabulary_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<std::int32_t> tokens_;  ///< of all words, one after the other
  std::vector<Word> words_;
  PairTable<std::uint32_t> indices_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> changed_;  ///< in pairs_: those that appeared in new places in this round
  std::uint32_t round_ = 1;
  std::vector<Candidate> queue_;  ///< a heap
  std::vector<std::vector<WordIndex>> word_lists_;
  std::vector<TokenPair> merges_;
};

}  // namespace monomorph::data
