#include "data/tokenizer/parts.hpp"

#include <monomorph/data/tokenizer.hpp>

namespace monomorph::data {

struct StreamDecoder::State {
  State(const Tokenizer& source, bool skip) : tokenizer(source), skip_special(skip), stream(source.parts_->decoders) {}

  const Tokenizer& tokenizer;
  bool skip_special;
  DecoderStream stream;
};

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : state_(std::make_unique<State>(tokenizer, skip_special)) {}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::push(std::int32_t id) {
  const std::string& token = state_->tokenizer.token_of(id);
  if (state_->skip_special && state_->tokenizer.is_special(id)) return {};
  return state_->stream.push(token);
}

std::string StreamDecoder::finish() { return state_->stream.finish(); }

}  // namespace monomorph::data
