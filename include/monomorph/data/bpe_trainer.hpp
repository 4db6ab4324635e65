#pragma once
#include <monomorph/data/tokenizer.hpp>
#include <monomorph/data/word_counts.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

struct BpeTrainerSettings {
  std::int32_t vocab_size = 0;  ///< special tokens and the 256 bytes included
  std::vector<std::string> special_tokens{"<|endoftext|>"};
  std::int64_t min_frequency = 2;  ///< pairs that are rarer stay apart
};

/// Learns a byte-level BPE with the merges of the `tokenizers` package's BpeTrainer (initial alphabet: all bytes) on
/// the same lines. Special tokens have the first ids, then the bytes in the order of their alphabet, then the merges.
class BpeTrainer {
 public:
  /// @throws [TOK-05] if the vocabulary has no room for bytes and special tokens, or a special token is empty or
  /// repeated
  explicit BpeTrainer(BpeTrainerSettings settings);

  /// Counts the words of one text. The package feeds files line by line, each with its newline.
  void feed(std::string_view text);

  /// Learns the merges. The vocabulary is smaller than asked for when the text has too few frequent pairs.
  TokenizerDefinition train() const;

 private:
  BpeTrainerSettings settings_;
  WordCounts word_counts_;
};

/// Trains on the lines of a text file, read piece by piece.  @throws [FILE-NN], [TOK-05], [DATA-04] for an empty file
TokenizerDefinition train_tokenizer(const std::string& text_path, const BpeTrainerSettings& settings);

}  // namespace monomorph::data
