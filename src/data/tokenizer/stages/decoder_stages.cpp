#include "data/tokenizer/stages/decoder_stages.hpp"

#include "core/overloaded.hpp"
#include "data/text/characters.hpp"

#include <monomorph/data/text/byte_level.hpp>

namespace monomorph::data {
namespace {

/// Steps that look at one token at a time, and at nothing but whether it is the first.
template <class Decode> class TokenStage final : public DecoderStage {
 public:
  explicit TokenStage(Decode decode) : decode_(decode) {}

  void push(std::string_view token) override {
    next().push(decode_(token, is_first_));
    is_first_ = false;
  }

 private:
  Decode decode_;
  bool is_first_ = true;
};

template <class Decode> std::unique_ptr<DecoderStage> token_stage(Decode decode) {
  return std::make_unique<TokenStage<Decode>>(decode);
}

class ByteLevelStage final : public DecoderStage {
 public:
  void push(std::string_view token) override {
    const auto bytes = from_byte_level(token);
    next().push(stream_.push(bytes ? std::string_view(*bytes) : token));
  }
  void finish() override { next().push(stream_.finish()); }

 private:
  Utf8Stream stream_;
};

/// Only the end of a run of bytes shows whether it is text: if it is not, every byte is shown as U+FFFD.
class ByteFallbackStage final : public DecoderStage {
 public:
  void push(std::string_view token) override {
    if (const auto byte = decode_byte(token)) {
      run_ += *byte;
      return;
    }
    finish();
    next().push(token);
  }

  void finish() override {
    if (valid_utf8_prefix(run_) == run_.size()) {
      if (!run_.empty()) next().push(run_);
    } else {
      for (std::size_t i = 0; i < run_.size(); ++i) next().push(replacement_character);
    }
    run_.clear();
  }

 private:
  std::string run_;
};

/// Whether a token is the last is known one token later.
class BpeStage final : public DecoderStage {
 public:
  explicit BpeStage(const decoders::Bpe& settings) : settings_(settings) {}

  void push(std::string_view token) override {
    if (held_) next().push(decode_bpe(settings_, *held_, {false, false}));
    held_ = token;
  }
  void finish() override {
    if (held_) next().push(decode_bpe(settings_, *held_, {false, true}));
    held_.reset();
  }

 private:
  const decoders::Bpe& settings_;
  std::optional<std::string> held_;
};

/// Strips a text that comes in parts.
class StripTextStage final : public DecoderStage {
 public:
  explicit StripTextStage(const decoders::Strip& settings) : settings_(settings), to_strip_(settings.start) {}

  void push(std::string_view part) override {
    while (to_strip_ > 0 && !part.empty()) {
      if (!part.starts_with(settings_.content)) {
        to_strip_ = 0;
        break;
      }
      part.remove_prefix(settings_.content.size());
      --to_strip_;
    }
    // What may turn out to be stripped at the end is held.
    held_ += part;
    std::size_t n_held = 0, end = held_.size();
    while (n_held < settings_.stop && std::string_view(held_).substr(0, end).ends_with(settings_.content)) {
      end -= settings_.content.size();
      ++n_held;
    }
    next().push(std::string_view(held_).substr(0, end));
    held_.erase(0, end);
  }

 private:
  const decoders::Strip& settings_;
  std::size_t to_strip_;
  std::string held_;
};

class HoldingStage final : public DecoderStage {
 public:
  void push(std::string_view part) override { text_ += part; }
  void finish() override { next().push(text_); }

 private:
  std::string text_;
};

bool replaces_single_characters(const DecoderReplacement& replacement) {
  return replacement.matcher.is_one_character();
}

}  // namespace

std::unique_ptr<DecoderStage> make_spacing_stage() {
  return token_stage(
      [](std::string_view token, bool is_first) { return std::string(is_first ? "" : " ").append(token); });
}

std::unique_ptr<DecoderStage> make_holding_stage() { return std::make_unique<HoldingStage>(); }

bool takes_parts(const DecoderChain::Step& step) {
  return std::visit(Overloaded{
                        [](const decoders::Fuse&) { return true; },
                        [](const decoders::Strip&) { return true; },
                        [](const decoders::Metaspace&) { return true; },
                        [](const DecoderReplacement& replacement) { return replaces_single_characters(replacement); },
                        [](const auto&) { return false; },
                    },
                    step);
}

bool joins_tokens(const DecoderChain::Step& step) {
  return std::holds_alternative<decoders::ByteLevel>(step) || std::holds_alternative<decoders::Fuse>(step);
}

std::unique_ptr<DecoderStage> make_decoder_stage(const DecoderChain::Step& step, DecoderInput input) {
  const bool is_joined = input == DecoderInput::joined_text;
  using Stage = std::unique_ptr<DecoderStage>;
  return std::visit(Overloaded{
                        [](const decoders::ByteLevel&) -> Stage { return std::make_unique<ByteLevelStage>(); },
                        [](const decoders::ByteFallback&) -> Stage { return std::make_unique<ByteFallbackStage>(); },
                        [](const decoders::Fuse&) -> Stage { return nullptr; },
                        [](const DecoderReplacement& replacement) -> Stage {
                          return token_stage([&](std::string_view token, bool) { return replacement.apply(token); });
                        },
                        [&](const decoders::Strip& settings) -> Stage {
                          if (is_joined) return std::make_unique<StripTextStage>(settings);
                          return token_stage(
                              [&](std::string_view token, bool) { return decode_strip(settings, token); });
                        },
                        [&](const decoders::Metaspace& settings) -> Stage {
                          return token_stage([&settings, is_joined](std::string_view token, bool is_first) {
                            return decode_metaspace(settings, token, {is_first || is_joined, false});
                          });
                        },
                        [](const decoders::WordPiece& settings) -> Stage {
                          return token_stage([&](std::string_view token, bool is_first) {
                            return decode_word_piece(settings, token, {is_first, false});
                          });
                        },
                        [](const decoders::Bpe& settings) -> Stage { return std::make_unique<BpeStage>(settings); },
                    },
                    step);
}

}  // namespace monomorph::data
