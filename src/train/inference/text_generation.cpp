#include "train/inference/text_generation.hpp"

#include "train/inference/logits.hpp"

#include <monomorph/data/text/utf8.hpp>
#include <monomorph/runtime/machine/parallel.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace monomorph::train {

TextGeneration::TextGeneration(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings,
                               TextRequest request)
    : TextGeneration(session, tokenizer, settings, std::move(request), session.open()) {
  closes_ = true;
}

TextGeneration::TextGeneration(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings,
                               TextRequest request, int sequence)
    : session_(session),
      tokenizer_(tokenizer),
      settings_(settings),
      number_(request.number),
      sequence_(sequence),
      closes_(false),
      ids_(std::move(request.prompt)),
      sampler_(settings.sampling, number_),
      held_(tokenizer),
      decoder_(settings.is_turn ? data::StreamDecoder(tokenizer, true) : decoder_behind_prompt()),
      stop_texts_(settings.stop_texts) {
  sampler_.read_prompt(ids_);
  if (settings.constraint) constrained_.emplace(settings.constraint);
}

namespace {

/// How many characters U+FFFD stand in place of what a decoder holds, if what follows makes no text of it: as many as
/// it ends with here, or one for each of its bytes.
std::size_t signs_in_place_of(std::string_view held) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = held.find(data::replacement_character, at)) != std::string_view::npos; ++n)
    at += data::replacement_character.size();
  return n > 0 ? n : held.size();
}

}  // namespace

/// A decoder that has read the end of the prompt, as tokens are texts that go on: what begins a word has a space before
/// it, which a decoder takes off at the beginning of a text, and bytes may complete a character. Where so few tokens
/// show nothing, as special ones do, and bytes of which the first may be in the midst of a character, all are read.
data::StreamDecoder TextGeneration::decoder_behind_prompt() {
  constexpr std::size_t usual = 32;
  for (std::size_t n = std::min(usual, ids_.size());; n = ids_.size()) {
    data::StreamDecoder decoder(tokenizer_, true), of_prompt_alone(tokenizer_, true);
    held_ = HeldTokens(tokenizer_);
    bool shows = false;
    for (const std::int32_t id : std::span(ids_).last(n))
      if (tokenizer_.has_token(id)) {
        const std::string shown = decoder.push(id);
        of_prompt_alone.push(id);
        held_.push(id, shown);
        shows = shows || !shown.empty();
      }
    if (!shows && n < ids_.size()) continue;
    held_of_prompt_ = held_.whole_characters();
    n_signs_of_prompt_ = signs_in_place_of(of_prompt_alone.finish());
    held_.leave_out_all();
    return decoder;
  }
}

/// What a decoder shows first begins with what it held of the prompt: with its whole characters, or with signs in their
/// place where the bytes behind the prompt have made no character of them.
std::string TextGeneration::without_prompt(std::string decoded) {
  if (decoded.empty()) return decoded;
  const std::string whole = std::exchange(held_of_prompt_, "");
  std::size_t n_signs = std::exchange(n_signs_of_prompt_, 0);
  if (whole.size() > decoded.size() && whole.starts_with(decoded)) {  // some decoders show it piece by piece
    held_of_prompt_ = whole.substr(decoded.size());
    return "";
  }
  if (!whole.empty() && decoded.starts_with(whole)) return decoded.substr(whole.size());
  std::string_view rest = decoded;
  for (; n_signs > 0 && rest.starts_with(data::replacement_character); --n_signs)
    rest.remove_prefix(data::replacement_character.size());
  return std::string(rest);
}

std::span<const std::int32_t> TextGeneration::begin_again() {
  session_.close(sequence_);
  sequence_ = session_.open();
  const auto T = static_cast<std::size_t>(session_.context_length());
  const std::size_t n = ids_.size() <= T && result_.ids.empty() ? ids_.size() : std::max<std::size_t>(1, T / 2);
  return std::span(ids_).last(n);
}

Logits TextGeneration::read_prompt(const std::function<void(Logits)>& show) {
  Logits last;
  const auto most = static_cast<std::size_t>(std::min(session_.sizes().tokens, session_.sizes().wanted));
  for (std::span<const std::int32_t> left = ids_; !left.empty();) {
    const std::size_t n = std::min(left.size(), most);
    const Session::Addition addition{sequence_, left.first(n), static_cast<std::int64_t>(n)};
    for (const Logits logits : session_.extend({&addition, 1})) {
      show(logits);
      last = logits;
    }
    left = left.subspan(n);
  }
  return last;
}

void TextGeneration::choose(Logits logits) noexcept {
  try {
    const Logits named = logits.first(static_cast<std::size_t>(tokenizer_.vocab_size()));  // ids beyond have no text
    drawn_ = draw(named);
    if (settings_.log_probabilities && !ends_text(drawn_))
      result_.log_probabilities.push_back(
          log_probabilities(logits, std::ssize(named), drawn_, *settings_.log_probabilities));
  } catch (...) {
    failure_ = std::current_exception();
  }
}

std::int32_t TextGeneration::draw(Logits named) {
  const std::int64_t index = std::ssize(result_.ids);
  if (!constrained_) return sampler_.draw(named, index);
  check_finite(named);
  masked_.assign(named.begin(), named.end());
  constrained_->allowed().mask(masked_);
  const std::int32_t id = sampler_.draw(masked_, index);
  constrained_->accept(id);
  return id;
}

std::string TextGeneration::accept() {
  if (failure_) std::rethrow_exception(failure_);
  if (ends_text(drawn_)) return finish(FinishReason::stop);
  ids_.push_back(drawn_);
  result_.ids.push_back(drawn_);
  std::string shown = decoder_.push(drawn_);
  held_.push(drawn_, shown);
  std::string more = stop_texts_.push(without_prompt(std::move(shown)));
  result_.text += more;
  if (stop_texts_.reached() || holds_stop_text() || (constrained_ && constrained_->ended()))
    return more + finish(FinishReason::stop);
  if (std::ssize(result_.ids) == settings_.max_tokens) return more + finish(FinishReason::length);
  return more;
}

bool TextGeneration::ends_text(std::int32_t id) const {
  return std::ranges::find(settings_.stop_ids, id) != settings_.stop_ids.end();
}

/// Else a model that repeats a byte would go on although its text has long ended.
bool TextGeneration::holds_stop_text() const {
  const std::string held = settings_.stop_texts.empty() ? "" : held_.text();
  return !held.empty() && stop_texts_.would_reach(held);
}

/// What was held back as the beginning of a character, or of a stop text, belongs to the text after all. What the
/// decoder held may have a stop text, too.
std::string TextGeneration::finish(FinishReason reason) {
  std::string rest = result_.ids.empty() ? "" : stop_texts_.push(without_prompt(decoder_.finish()));
  rest += stop_texts_.finish();
  result_.text += rest;
  result_.finish_reason = stop_texts_.reached() ? FinishReason::stop : reason;
  finished_ = true;
  return rest;
}

void choose_all(std::span<TextGeneration* const> texts, std::span<const Logits> logits) {
  parallel_for(std::ssize(texts), [&](std::int64_t i) {
    const auto text = static_cast<std::size_t>(i);
    texts[text]->choose(logits[text]);
  });
}

}  // namespace monomorph::train
