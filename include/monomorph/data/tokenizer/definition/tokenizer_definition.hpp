#pragma once
#include <monomorph/data/bpe/pair_table.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace monomorph::data {

/// A token that is found in the text as it stands, before any other cutting.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false;      ///< stands for no text: skipped where text is shown, counted as no bytes
  bool normalized = true;    ///< searched for, as the normalizers make it, in the text that they have changed
  bool single_word = false;  ///< not found beside a letter, digit or underscore
  bool lstrip = false;       ///< takes the white space before it
  bool rstrip = false;       ///< takes the white space after it
};

/// What a part of a tokenizer looks for.
struct TextPattern {
  std::string text;
  bool is_regex = false;  ///< as Oniguruma reads it
};

/// What happens to the text before it is cut. A sequence of them is a vector.
namespace normalizers {
enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
struct Unicode {
  UnicodeForm form;
};
struct Lowercase {};
struct StripAccents {};
struct Nmt {};
struct ByteLevel {};
struct Strip {
  bool left = true, right = true;
};
struct Replace {
  TextPattern pattern;
  std::string content;
};
struct Prepend {
  std::string text;
};
struct Bert {
  bool clean_text = true, handle_chinese_characters = true, strip_accents = true, lowercase = true;
};
struct Precompiled {
  std::string character_map;  ///< the bytes, as SentencePiece builds them
};
}  // namespace normalizers
using Normalizer = std::variant<normalizers::Unicode, normalizers::Lowercase, normalizers::StripAccents,
                                normalizers::Nmt, normalizers::ByteLevel, normalizers::Strip, normalizers::Replace,
                                normalizers::Prepend, normalizers::Bert, normalizers::Precompiled>;

/// How the text is cut into the pieces that the model sees one by one.
namespace pre_tokenizers {
/// What becomes of the delimiters that a piece is cut at.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
enum class PrependScheme { first, never, always };
struct ByteLevel {
  bool add_prefix_space = true;
  bool use_regex = true;     ///< GPT-2's pattern
  bool trim_offsets = true;  ///< kept for writing; ids do not depend on it
};
struct Split {
  TextPattern pattern;
  Behavior behavior = Behavior::removed;
  bool invert = false;  ///< the pattern finds what lies between the delimiters
};
struct Digits {
  bool individual = false;
};
struct Metaspace {
  std::string replacement = "\xE2\x96\x81";  ///< one character
  PrependScheme prepend_scheme = PrependScheme::always;
  bool split = true;
};
struct Whitespace {};
struct WhitespaceSplit {};
struct Punctuation {
  Behavior behavior = Behavior::isolated;
};
struct Bert {};
struct CharDelimiterSplit {
  std::string delimiter;  ///< one character
};
}  // namespace pre_tokenizers
using PreTokenizer =
    std::variant<pre_tokenizers::ByteLevel, pre_tokenizers::Split, pre_tokenizers::Digits, pre_tokenizers::Metaspace,
                 pre_tokenizers::Whitespace, pre_tokenizers::WhitespaceSplit, pre_tokenizers::Punctuation,
                 pre_tokenizers::Bert, pre_tokenizers::CharDelimiterSplit>;

/// What turns a piece into ids.
namespace tokenizer_models {
struct Bpe {
  std::vector<TokenPair> merges{};  ///< by rank
  std::optional<std::string> unk_token{};
  std::string continuing_subword_prefix{};
  std::string end_of_word_suffix{};
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;  ///< a piece that is a token is not built from its parts
};
struct Unigram {
  std::vector<double> scores{};  ///< by id
  std::optional<std::int32_t> unk_id{};
  bool byte_fallback = false;
};
struct WordPiece {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_input_chars_per_word = 100;
};
struct WordLevel {
  std::string unk_token = "<unk>";
};
}  // namespace tokenizer_models
using TokenizerModel = std::variant<tokenizer_models::Bpe, tokenizer_models::Unigram, tokenizer_models::WordPiece,
                                    tokenizer_models::WordLevel>;

/// How tokens become text again. A sequence of them is a vector.
namespace decoders {
struct ByteLevel {};
struct ByteFallback {};
struct Fuse {};
struct Replace {
  TextPattern pattern;
  std::string content;
};
struct Strip {
  std::string content;  ///< one character
  std::size_t start = 0, stop = 0;
};
struct Metaspace {
  std::string replacement = "\xE2\x96\x81";  ///< one character
  pre_tokenizers::PrependScheme prepend_scheme = pre_tokenizers::PrependScheme::always;
};
struct WordPiece {
  std::string prefix = "##";
  bool cleanup = true;
};
struct Bpe {
  std::string suffix = "</w>";
};
}  // namespace decoders
using TokenDecoder = std::variant<decoders::ByteLevel, decoders::ByteFallback, decoders::Fuse, decoders::Replace,
                                  decoders::Strip, decoders::Metaspace, decoders::WordPiece, decoders::Bpe>;

/// The ids around a text: what a post-processor adds to a single sequence.
struct SpecialTokenFrame {
  std::vector<std::int32_t> before{}, after{};
};

/// What a tokenizer.json holds. As it stands: a byte-level BPE with GPT-2's pre-tokeniser, the vocabulary still empty.
struct TokenizerDefinition {
  std::vector<std::string> vocabulary{};  ///< of the model, by id, as the file writes it; "" where an id has no token
  std::vector<AddedToken> added_tokens{};
  std::vector<Normalizer> normalizers{};
  std::vector<PreTokenizer> pre_tokenizers{pre_tokenizers::ByteLevel{.add_prefix_space = false}};
  TokenizerModel model{};
  SpecialTokenFrame frame{};
  std::vector<TokenDecoder> decoders{data::decoders::ByteLevel{}};  ///< none: tokens with spaces between them
};

}  // namespace monomorph::data
