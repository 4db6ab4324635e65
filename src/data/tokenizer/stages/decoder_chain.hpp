#pragma once
#include "data/tokenizer/stages/text_matcher.hpp"

#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace monomorph::data {

class DecoderStage;

/// Puts a text in the place of every match.
struct DecoderReplacement {
  TextMatcher matcher;
  std::string content;

  std::string apply(std::string_view text) const;
};

/// The decoders of a tokenizer, one after the other. Immutable; threads may share one.
class DecoderChain {
 public:
  using Step = std::variant<decoders::ByteLevel, decoders::ByteFallback, decoders::Fuse, DecoderReplacement,
                            decoders::Strip, decoders::Metaspace, decoders::WordPiece, decoders::Bpe>;

  DecoderChain() = default;
  /// @throws [TOK-02], [TOK-10] for a pattern
  explicit DecoderChain(const std::vector<TokenDecoder>& decoders);

  /// What a token stands for within a text: bytes that need not be characters.
  std::string bytes_within_text(std::string_view token) const;

 private:
  friend class DecoderStream;

  std::vector<Step> steps_;  ///< none: tokens with spaces between them
};

/// Tokens on their way through the decoders.
class DecoderStream {
 public:
  /// @param chain must outlive it
  explicit DecoderStream(const DecoderChain& chain);
  DecoderStream(DecoderStream&&) noexcept;
  ~DecoderStream();

  /// What can be shown after one more token: text that ends between characters.
  std::string push(std::string_view token);
  /// What is left at the end.
  std::string finish();

 private:
  void add(std::unique_ptr<DecoderStage> stage);

  std::vector<std::unique_ptr<DecoderStage>> stages_;
  std::unique_ptr<std::string> text_;  ///< what has come out and was not fetched yet
};

}  // namespace monomorph::data
