#pragma once
#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>
#include <monomorph/data/tokenizer/sentence_piece/sentence_piece_model.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace monomorph::data {

/// Reads a Hugging Face tokenizer.json.
/// @throws [TOK-01] not such a file; [TOK-02] it asks for something that is not supported, by name; [TOK-03]
TokenizerDefinition read_tokenizer_definition(const std::string& path);

/// The text of a tokenizer.json that the `tokenizers` package loads.
std::string to_tokenizer_json(const TokenizerDefinition& definition);

/// Whether a text gets the tokens that the tokenizer puts around it (begin of text, [CLS], …).
enum class SpecialTokens { none, around_text };

/// The parts of a tokenizer made ready for use.
struct TokenizerParts;

/// Text to token ids and back. Immutable; threads may share one.
class Tokenizer {
 public:
  /// @throws [TOK-03] if vocabulary, merges and added tokens contradict each other; [TOK-02], [TOK-10] for a pattern
  /// that is not supported or is none
  explicit Tokenizer(TokenizerDefinition definition);
  /// The tokenizer of a SentencePiece file: nothing surrounds a text, and control tokens are never found in it.
  explicit Tokenizer(SentencePieceModel model);
  Tokenizer(const Tokenizer&) = delete;
  ~Tokenizer();

  /// Text that is not UTF-8 is encoded with U+FFFD in the place of what is broken. For many texts use an Encoder.
  std::vector<std::int32_t> encode(std::string_view text, SpecialTokens special = SpecialTokens::none) const;

  /// The ids that SpecialTokens::around_text puts before and after every text.
  std::span<const std::int32_t> ids_before_text() const { return definition_.frame.before; }
  std::span<const std::int32_t> ids_after_text() const { return definition_.frame.after; }

  /// The text of `ids`, with U+FFFD for bytes that are not UTF-8.  @throws [TOK-04] for an id without a token
  std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;

  /// One more than the largest id.
  std::int32_t vocab_size() const { return static_cast<std::int32_t>(tokens_.size()); }
  bool has_token(std::int32_t id) const;
  /// The id of a token as the file writes it, added tokens included.
  std::optional<std::int32_t> find(std::string_view token) const;
  /// A token as the file writes it; an added one as the normalizers make it.  @throws [TOK-04]
  const std::string& token_of(std::int32_t id) const;
  /// The bytes that a token stands for within a text.  @throws [TOK-04]
  std::string bytes_of(std::int32_t id) const;
  bool is_special(std::int32_t id) const;
  /// Of a SentencePiece file, it has the vocabulary and, as added tokens, the control tokens.
  const TokenizerDefinition& definition() const { return definition_; }

 private:
  friend class Encoder;
  friend class StreamDecoder;

  void add(const AddedToken& token);
  /// As the `tokenizers` package does it, by name: not where the normalizers give a special token another one.
  bool is_skipped(std::int32_t id) const;

  TokenizerDefinition definition_;
  std::vector<std::string> tokens_;  ///< by id, as decoders see them, added ones included
  std::vector<bool> special_;        ///< by id
  std::unordered_map<std::string, std::int32_t> added_ids_;
  std::unordered_set<std::string> special_names_;
  std::unique_ptr<const TokenizerParts> parts_;  ///< null for a SentencePiece file
  std::unique_ptr<const SentencePieceModel> sentence_piece_;
};

/// Reads a tokenizer.json, or a SentencePiece file, whose name ends in .model or which begins like one.
/// @throws as read_tokenizer_definition, Tokenizer and SentencePieceModel
std::unique_ptr<const Tokenizer> read_tokenizer(const std::string& path);

/// Whether something of a text that is encoded in pieces comes before this one.
enum class TextPiece { first, later };

/// Encodes many texts and remembers the words it has met. One per thread; the tokenizer must outlive it.
class Encoder {
 public:
  static constexpr std::size_t usual_cache_bytes = std::size_t{4} << 20;

  /// @param most_cache_bytes what it may remember of words, about: the speed depends on it, the ids do not
  explicit Encoder(const Tokenizer& tokenizer, std::size_t most_cache_bytes = usual_cache_bytes);
  Encoder(Encoder&&) noexcept;
  ~Encoder();

  /// Appends the ids of `text`, broken UTF-8 replaced as in Tokenizer::encode.
  /// @throws [TOK-11] if a pattern takes too long on the text
  void encode(std::string_view text, std::vector<std::int32_t>& ids, SpecialTokens special = SpecialTokens::none);

  /// The same with special tokens taken for the ordinary text that they look like: for text from outside, which must
  /// not be able to write them.
  /// @param from_start false if `text` comes behind a special token: some tokenizers mark the beginning of a text
  void encode_plain(std::string_view text, std::vector<std::int32_t>& ids, bool from_start = true);

  /// Appends the ids of as much of `text`, valid UTF-8, as is the same whatever follows it, and returns the number of
  /// bytes encoded. The rest is to be given again with more text, or to encode_rest() at the end. Nothing is encoded
  /// where no such place is known: by SentencePiece files never, by byte-level BPE within a word alone, by most others
  /// where no words have a space between them.
  std::size_t encode_decided(std::string_view text, std::vector<std::int32_t>& ids, TextPiece piece);
  /// Appends the ids of what is left of a text at its end.
  void encode_rest(std::string_view text, std::vector<std::int32_t>& ids, TextPiece piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decodes ids one after the other into text that ends between characters: all pieces together are what
/// Tokenizer::decode makes of the ids.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = false);
  StreamDecoder(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  /// What can be shown after one more token.  @throws [TOK-04]
  std::string push(std::int32_t id);
  /// What is left at the end: U+FFFD if the last character is incomplete.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// By id, the number of bytes of text that a token stands for; 0 for special tokens. What bits per byte divide by.
std::vector<std::int32_t> token_byte_lengths(const Tokenizer& tokenizer);

}  // namespace monomorph::data
