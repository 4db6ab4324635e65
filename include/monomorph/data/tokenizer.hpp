#pragma once
#include <monomorph/data/byte_pair_merger.hpp>
#include <monomorph/data/utf8.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace monomorph::data {

/// A token that is found in the text as it stands, before any other cutting.
struct AddedToken {
  std::string content;
  std::int32_t id;
  bool special;     ///< stands for no text: skipped where text is shown, counted as no bytes
  bool normalized;  ///< searched for after those that are not
};

/// What a tokenizer.json holds: a byte-level BPE with GPT-2's pre-tokeniser.
struct TokenizerDefinition {
  std::vector<std::string> vocabulary;  ///< by id, in the byte-level alphabet; "" where an id has no token
  std::vector<TokenPair> merges;        ///< by rank
  std::vector<AddedToken> added_tokens;
  bool ignore_merges = false;  ///< a word that is a token is not built from its parts
};

/// Reads a Hugging Face tokenizer.json.
/// @throws [TOK-01] not such a file; [TOK-02] it asks for something that is not supported, by name
TokenizerDefinition read_tokenizer_definition(const std::string& path);

/// The text of a tokenizer.json that the `tokenizers` package loads.
std::string to_tokenizer_json(const TokenizerDefinition& definition);

/// Text to token ids and back. Immutable; threads may share one.
class Tokenizer {
 public:
  /// @throws [TOK-03] if vocabulary, merges and added tokens contradict each other
  explicit Tokenizer(TokenizerDefinition definition);
  Tokenizer(const Tokenizer&) = delete;

  /// Text that is not UTF-8 is encoded with U+FFFD in the place of what is broken. For many texts use an Encoder.
  std::vector<std::int32_t> encode(std::string_view text) const;

  /// The text of `ids`, with U+FFFD for bytes that are not UTF-8.  @throws [TOK-04] for an id without a token
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;

  /// One more than the largest id.
  std::int32_t vocab_size() const { return static_cast<std::int32_t>(bytes_.size()); }
  /// The id of a token as the file writes it, added tokens included.
  std::optional<std::int32_t> find(std::string_view token) const;
  /// The bytes that a token stands for.  @throws [TOK-04]
  const std::string& bytes_of(std::int32_t id) const;
  bool is_special(std::int32_t id) const;
  const TokenizerDefinition& definition() const { return definition_; }

 private:
  friend class Encoder;

  /// The added tokens of one pass over the text: at each place the longest that fits.
  struct AddedTokenSearch {
    std::vector<const AddedToken*> longest_first;
    std::array<bool, 256> starts_one{};
    std::size_t longest = 0;
    void add(const AddedToken& token);
    struct Match {
      std::size_t begin;
      const AddedToken* token;
    };
    /// The first match that begins in [begin, end) of `text`.
    std::optional<Match> find(std::string_view text, std::size_t begin, std::size_t end) const;
  };

  void index_vocabulary();
  void add_merges();
  void prepare_added_tokens();

  TokenizerDefinition definition_;
  std::vector<std::string> bytes_;  ///< by id
  std::vector<bool> special_;       ///< by id
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::array<std::int32_t, 256> id_of_byte_{};
  MergeTable merges_;
  std::array<AddedTokenSearch, 2> added_tokens_, ordinary_added_tokens_;  ///< the latter without special ones
};

/// Encodes many texts and remembers the words it has met. One per thread; the tokenizer must outlive it.
class Encoder {
 public:
  explicit Encoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer), merger_(tokenizer.merges_) {}

  /// Appends the ids of `text`, broken UTF-8 replaced as in Tokenizer::encode.
  void encode(std::string_view text, std::vector<std::int32_t>& ids);

  /// The same with special tokens taken for the ordinary text that they look like: for text from outside, which must
  /// not be able to write them.
  void encode_plain(std::string_view text, std::vector<std::int32_t>& ids);

  /// Appends the ids of as much of `text`, valid UTF-8, as is the same whatever follows it, and returns the number of
  /// bytes encoded. The rest is to be given again with more text, or to encode() at the end.
  std::size_t encode_decided(std::string_view text, std::vector<std::int32_t>& ids) {
    return encode_pass(tokenizer_.added_tokens_, text, false, ids);
  }

 private:
  using Passes = std::span<const Tokenizer::AddedTokenSearch>;
  void encode_whole(Passes passes, std::string_view text, std::vector<std::int32_t>& ids);
  /// Cuts at the added tokens of these passes. `complete`: the text ends here.
  std::size_t encode_pass(Passes passes, std::string_view text, bool complete, std::vector<std::int32_t>& ids);
  std::size_t encode_words(std::string_view text, bool complete, std::vector<std::int32_t>& ids);
  void encode_word(std::string_view word, std::vector<std::int32_t>& ids);
  void remember(std::string_view word, std::span<const std::int32_t> ids);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Remembered {
    std::size_t begin, size;
  };

  const Tokenizer& tokenizer_;
  BytePairMerger merger_;
  std::unordered_map<std::string, Remembered, Hash, std::equal_to<>> known_words_;
  std::vector<std::int32_t> known_ids_;
};

/// Decodes ids one after the other into text that ends between characters.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = false)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}

  /// What can be shown after one more token.  @throws [TOK-04]
  std::string push(std::int32_t id);
  /// What is left at the end: U+FFFD if the last character is incomplete.
  std::string finish() { return stream_.finish(); }

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  Utf8Stream stream_;
};

/// By id, the number of bytes of text that a token stands for; 0 for special tokens. What bits per byte divide by.
std::vector<std::int32_t> token_byte_lengths(const Tokenizer& tokenizer);

}  // namespace monomorph::data
