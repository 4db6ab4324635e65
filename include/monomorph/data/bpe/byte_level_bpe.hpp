#pragma once
#include <monomorph/data/bpe/byte_pair_merger.hpp>
#include <monomorph/data/bpe/word_cache.hpp>
#include <monomorph/data/text/word_pattern.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace monomorph::data {

/// Byte-pair encoding of words that are bytes, each of which has a token. Immutable; threads may share one.
class ByteLevelBpe {
 public:
  /// @param rules by rank; of a pair that is given twice the later counts
  /// @param whole_words the bytes of tokens by id: a word that is one of them is not built from its parts
  ///        (ignore_merges); none for plain byte-pair encoding
  ByteLevelBpe(const std::array<std::int32_t, 256>& id_of_byte, std::span<const MergeRule> rules,
               std::span<const std::string> whole_words = {});

 private:
  friend class ByteLevelBpeEncoder;

  std::array<std::int32_t, 256> id_of_byte_;
  MergeTable merges_;
  std::vector<std::uint32_t> rank_of_bytes_;  ///< of two bytes that follow each other: left * 256 + right
  std::unordered_map<std::string, std::int32_t> whole_words_;
};

/// Encodes many texts and remembers the words it has met, in a few megabytes. One per thread; what it encodes with must
/// outlive it.
class ByteLevelBpeEncoder {
 public:
  /// @param most_cache_bytes what it may remember of short words, and again of long ones
  explicit ByteLevelBpeEncoder(const ByteLevelBpe& bpe, std::size_t most_cache_bytes = ShortWordCache::usual_bytes)
      : bpe_(bpe), merger_(bpe.merges_), short_words_(most_cache_bytes), most_long_word_bytes_(most_cache_bytes) {}

  /// Cuts `text`, valid UTF-8, into the words of `pattern`, appends their ids and returns the number of bytes encoded.
  /// If `complete`, the text ends here and all of it is encoded; otherwise only words that following text cannot
  /// change.
  std::size_t encode_words(WordPattern pattern, std::string_view text, bool complete, std::vector<std::int32_t>& ids);

  /// Appends the ids of one word, any bytes.
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids);

 private:
  struct Word;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  template <WordPattern pattern>
  std::size_t encode_words(std::string_view text, bool complete, std::vector<std::int32_t>& ids);
  Word look_up(const char* begin, std::size_t length, const char* text_end);
  void finish_batch(std::span<const Word> words, std::vector<std::int32_t>& ids);
  void merge(std::string_view word, std::vector<std::int32_t>& ids);
  void encode_long_word(std::string_view word, std::vector<std::int32_t>& ids);

  const ByteLevelBpe& bpe_;
  BytePairMerger merger_;
  ShortWordCache short_words_;
  std::unordered_map<std::string, std::vector<std::int32_t>, Hash, std::equal_to<>> long_words_;
  std::size_t most_long_word_bytes_, long_word_bytes_ = 0;
};

}  // namespace monomorph::data
