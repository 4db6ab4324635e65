#include "data/tokenizer/stages/decoder_chain.hpp"

#include "core/overloaded.hpp"
#include "data/tokenizer/stages/decoder_stages.hpp"

#include <monomorph/data/text/byte_level.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <utility>

namespace monomorph::data {
namespace {

class OutputStage final : public DecoderStage {
 public:
  explicit OutputStage(std::string& text) : text_(text) {}
  void push(std::string_view token) override { text_ += token; }

 private:
  std::string& text_;
};

}  // namespace

std::string DecoderReplacement::apply(std::string_view text) const {
  std::string result;
  std::size_t copied = 0;
  matcher.for_each_match(text, [&](TextSpan match) {
    result.append(text.substr(copied, match.begin - copied)).append(content);
    copied = match.end;
  });
  return result.append(text.substr(copied));
}

DecoderChain::DecoderChain(const std::vector<TokenDecoder>& decoders) {
  for (const TokenDecoder& decoder : decoders) {
    steps_.push_back(std::visit(Overloaded{
                                    [](const decoders::Replace& replace) -> Step {
                                      return DecoderReplacement{TextMatcher(replace.pattern), replace.content};
                                    },
                                    [](const auto& other) -> Step { return other; },
                                },
                                decoder));
  }
}

std::string DecoderChain::bytes_within_text(std::string_view token) const {
  std::string text(token);
  if (steps_.empty()) return " " + text;
  bool is_joined = false;
  constexpr TokenPlace within{false, false};
  for (const Step& step : steps_) {
    std::visit(Overloaded{
                   [&](const decoders::ByteLevel&) { text = from_byte_level(text).value_or(text); },
                   [&](const decoders::ByteFallback&) {
                     if (const auto byte = decode_byte(text)) text = *byte;
                   },
                   [](const decoders::Fuse&) {},
                   [&](const DecoderReplacement& replacement) { text = replacement.apply(text); },
                   [&](const decoders::Strip& settings) {
                     if (!is_joined) text = decode_strip(settings, text);
                   },
                   [&](const decoders::Metaspace& settings) {
                     text = decode_metaspace(settings, text, {is_joined, false});
                   },
                   [&](const decoders::WordPiece& settings) { text = decode_word_piece(settings, text, within); },
                   [&](const decoders::Bpe& settings) { text = decode_bpe(settings, text, within); },
               },
               step);
    is_joined = is_joined || joins_tokens(step);
    if (valid_utf8_prefix(text) != text.size()) break;  // a part of a character, which no other step would recognise
  }
  return text;
}

DecoderStream::DecoderStream(const DecoderChain& chain) : text_(std::make_unique<std::string>()) {
  DecoderInput input = DecoderInput::tokens;
  if (chain.steps_.empty()) add(make_spacing_stage());
  for (const DecoderChain::Step& step : chain.steps_) {
    const bool is_joined = input == DecoderInput::joined_text;
    if (is_joined && !takes_parts(step)) {
      add(make_holding_stage());
      input = DecoderInput::tokens;  // all that was joined comes as one
    }
    if (auto stage = make_decoder_stage(step, input)) add(std::move(stage));
    if (joins_tokens(step)) input = DecoderInput::joined_text;
  }
  add(std::make_unique<OutputStage>(*text_));
}

DecoderStream::DecoderStream(DecoderStream&&) noexcept = default;
DecoderStream::~DecoderStream() = default;

void DecoderStream::add(std::unique_ptr<DecoderStage> stage) {
  if (!stages_.empty()) stages_.back()->set_next(*stage);
  stages_.push_back(std::move(stage));
}

std::string DecoderStream::push(std::string_view token) {
  stages_.front()->push(token);
  return std::exchange(*text_, {});
}

std::string DecoderStream::finish() {
  for (const auto& stage : stages_) stage->finish();
  return std::exchange(*text_, {});
}

}  // namespace monomorph::data
