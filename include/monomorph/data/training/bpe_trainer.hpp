#pragma once
#include <monomorph/data/bpe/word_counts.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

struct BpeTrainerSettings {
  std::int32_t vocab_size = 0;  ///< special tokens and the 256 bytes included
  std::vector<std::string> special_tokens{"<|endoftext|>"};
  std::int64_t min_frequency = 2;  ///< pairs that are rarer stay apart
  /// How texts are cut into words; the last must be ByteLevel. GPT-2's, unless changed.
  std::vector<PreTokenizer> pre_tokenizers{pre_tokenizers::ByteLevel{.add_prefix_space = false}};
};

/// Pre-tokenizers for the words that a pattern finds, and what lies between them, of a byte-level tokenizer.
std::vector<PreTokenizer> byte_level_words(std::string_view regex);

class WordCutter;

/// Learns a byte-level BPE with the merges of the `tokenizers` package's BpeTrainer (initial alphabet: all bytes) on
/// the same texts. Special tokens have the first ids, then the bytes in the order of their alphabet, then the merges.
/// As there, a special token within a text is text like any other.
class BpeTrainer {
 public:
  /// @throws [TOK-05] if the vocabulary has no room for bytes and special tokens, or a special token is empty or
  /// repeated; [TOK-02], [TOK-10] for a pattern
  explicit BpeTrainer(BpeTrainerSettings settings);
  ~BpeTrainer();

  /// Counts the words of one text; U+FFFD stands for what is not UTF-8.  @throws [TOK-11] if a pattern takes too long
  void feed(std::string_view text) { count_words(text, word_counts_); }

  /// The same into counts of a thread's own, which are then given to add().
  void count_words(std::string_view text, WordCounts& counts) const;
  void add(const WordCounts& counts) { word_counts_.add_all(counts); }

  /// Learns the merges. The vocabulary is smaller than asked for when the text has too few frequent pairs.
  /// @param progress told how many merges are learned, of how many   @throws [DATA-11] if interrupted
  TokenizerDefinition train(const ProgressCallback& progress = {}) const;

 private:
  BpeTrainerSettings settings_;
  std::unique_ptr<const WordCutter> cutter_;
  WordCounts word_counts_;
};

/// What train_tokenizer reads.
struct TrainingText {
  std::vector<std::string> paths;
  std::string field = "/text";  ///< where a record of a JSON Lines file has its text (JSON Pointer)
  int n_threads = 1;
  ProgressCallback progress{};        ///< bytes of all files together
  ProgressCallback merge_progress{};  ///< merges, once all texts are read
};

/// Trains on files, each read block by block: of JSON Lines (.jsonl, .json, .ndjson) every record's text is one text,
/// of any other file every line with its newline, as the package takes files. Memory grows with the number of distinct
/// words.
/// @throws [FILE-NN]; [TOK-NN] as BpeTrainer does; [DATA-04] for an empty file; [DATA-02], [DATA-03], [DATA-20] for a
/// line that is no document; [DATA-10] if the field is no JSON Pointer; [DATA-11] if interrupted
TokenizerDefinition train_tokenizer(const TrainingText& text, const BpeTrainerSettings& settings);

}  // namespace monomorph::data
