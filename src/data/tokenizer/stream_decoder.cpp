#include "data/tokenizer/parts.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_stream.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <variant>

namespace monomorph::data {

struct StreamDecoder::State {
  using Stream = std::variant<DecoderStream, SentencePieceStream>;

  State(const Tokenizer& source, bool skip) : tokenizer(source), skip_special(skip), stream(stream_of(source)) {}

  static Stream stream_of(const Tokenizer& tokenizer) {
    if (tokenizer.sentence_piece_) return SentencePieceStream(*tokenizer.sentence_piece_);
    return DecoderStream(tokenizer.parts_->decoders);
  }

  const Tokenizer& tokenizer;
  bool skip_special;
  Stream stream;
};

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : state_(std::make_unique<State>(tokenizer, skip_special)) {}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(std::int32_t id) {
  const std::string& token = state_->tokenizer.token_of(id);
  if (state_->skip_special && state_->tokenizer.is_skipped(id)) return {};
  if (auto* pieces = std::get_if<SentencePieceStream>(&state_->stream)) return pieces->push(id);
  return std::get<DecoderStream>(state_->stream).push(token);
}

std::string StreamDecoder::finish() {
  return std::visit([](auto& stream) { return stream.finish(); }, state_->stream);
}

}  // namespace monomorph::data
