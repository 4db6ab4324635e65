#include "data/tokenizer/sentence_piece/sentence_piece_stream.hpp"

#include "data/tokenizer/stages/decoder_stages.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <algorithm>
#include <utility>

namespace monomorph::data {

using Kind = SentencePieceModel::Kind;

SentencePieceStream::SentencePieceStream(const SentencePieceModel& model) : model_(model) {
  for (std::int32_t id = 0; id < model.vocab_size() && anchor_text_.empty(); ++id) {
    if (model.kind(id) != Kind::text) continue;
    anchor_ = id;
    anchor_text_ = model.decode({&id, 1});
  }
}

/// Whether the tokens that are held end with a whole character, so that no byte waits for others to complete one.
bool SentencePieceStream::is_whole_text() const {
  const auto is_byte = [&](std::int32_t id) { return model_.kind(id) == Kind::byte; };
  const auto last_other = std::find_if_not(held_.rbegin(), held_.rend(), is_byte);
  std::string bytes;
  for (auto id = last_other.base(); id != held_.end(); ++id) bytes += bytes_of_piece(model_, *id);
  return valid_utf8_prefix(bytes) == bytes.size();
}

std::string SentencePieceStream::push(std::int32_t id) {
  held_.push_back(id);
  return is_whole_text() ? finish() : "";
}

std::string SentencePieceStream::finish() {
  if (anchor_text_.empty()) {
    const std::string all = model_.decode(held_);
    return all.substr(std::min(std::exchange(n_shown_, all.size()), all.size()));
  }
  if (at_start_) {
    std::string text = model_.decode(held_);
    if (text.empty()) return text;
    at_start_ = false;
    held_.clear();
    return text;
  }
  held_.insert(held_.begin(), anchor_);
  const std::string text = model_.decode(std::exchange(held_, {}));
  return text.substr(std::min(anchor_text_.size(), text.size()));
}

std::string bytes_of_piece(const SentencePieceModel& model, std::int32_t id) {
  constexpr std::string_view space = "\xE2\x96\x81";
  const std::string& piece = model.piece(id);
  if (model.kind(id) == Kind::control) return "";
  if (const auto byte = model.kind(id) == Kind::byte ? decode_byte(piece) : std::nullopt) return std::string(1, *byte);
  std::string text;
  for (std::size_t position = 0; position < piece.size();) {
    const bool is_space = std::string_view(piece).substr(position).starts_with(space);
    text += is_space ? ' ' : piece[position];
    position += is_space ? space.size() : 1;
  }
  return text;
}

}  // namespace monomorph::data
