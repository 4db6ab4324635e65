#pragma once
#include "data/tokenizer/stages/decoder_chain.hpp"

#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// One decoder at work: it gets tokens and gives texts to the next one.
class DecoderStage {
 public:
  virtual ~DecoderStage() = default;

  /// One more token, valid UTF-8; behind a stage that joins all tokens into one, the next part of that one.
  virtual void push(std::string_view token) = 0;
  /// There are no more tokens. Passed on by the caller.
  virtual void finish() {}

  void set_next(DecoderStage& next) { next_ = &next; }

 protected:
  DecoderStage& next() { return *next_; }

 private:
  DecoderStage* next_ = nullptr;
};

/// Whether a stage sees tokens, or parts of one text that a stage before it has joined.
enum class DecoderInput { tokens, joined_text };

/// The stage of a step, whose settings must outlive it; nothing where the step changes nothing.
std::unique_ptr<DecoderStage> make_decoder_stage(const DecoderChain::Step& step, DecoderInput input);
/// Tokens with spaces between them.
std::unique_ptr<DecoderStage> make_spacing_stage();
/// Keeps all parts of a text until its end.
std::unique_ptr<DecoderStage> make_holding_stage();
/// The step can work on joined text part by part.
bool takes_parts(const DecoderChain::Step& step);
/// The step makes one text of all tokens.
bool joins_tokens(const DecoderChain::Step& step);

/// What a step makes of one token, where that depends on nothing but its place.
struct TokenPlace {
  bool is_first, is_last;
};
std::string decode_metaspace(const decoders::Metaspace& settings, std::string_view token, TokenPlace place);
std::string decode_word_piece(const decoders::WordPiece& settings, std::string_view token, TokenPlace place);
std::string decode_bpe(const decoders::Bpe& settings, std::string_view token, TokenPlace place);
std::string decode_strip(const decoders::Strip& settings, std::string_view token);
/// The byte of "<0x0A>"; nothing for other tokens.
std::optional<char> decode_byte(std::string_view token);

}  // namespace monomorph::data
