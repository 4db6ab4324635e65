#include "data/tokenizer/parts.hpp"

#include <monomorph/data/tokenizer.hpp>
#include <monomorph/data/utf8.hpp>

#include <algorithm>

namespace monomorph::data {

struct Encoder::State {
  explicit State(const Tokenizer& tokenizer)
      : frame(tokenizer.definition().frame), parts(*tokenizer.parts_), model(parts.model) {}

  using Ids = std::vector<std::int32_t>;

  /// Cuts at the added tokens of the text as it is, then at those of the text as the normalizers make it.
  void encode(std::string_view text, Ids& ids) {
    const bool normalizes = !parts.normalizers.empty();
    encode_between(parts.raw_tokens, text, ids, [&](std::string_view part, bool from_start) {
      if (!normalizes) return encode_normalized(part, from_start, ids);
      TextInWork work{std::string(part), from_start};
      parts.normalizers.apply(work);
      encode_normalized(work.text, work.from_start, ids);
    });
  }

  void encode_normalized(std::string_view text, bool from_start, Ids& ids) {
    encode_between(parts.normalized_tokens, text, ids,
                   [&](std::string_view part, bool is_first) { encode_plain(part, from_start && is_first, ids); });
  }

  template <class EncodePart>
  void encode_between(const AddedTokenSearch& tokens, std::string_view text, Ids& ids, EncodePart encode_part) {
    std::size_t position = 0;
    tokens.for_each(text, text.size(), [&](const AddedTokenSearch::Found& found) {
      if (found.begin > position) encode_part(text.substr(position, found.begin - position), position == 0);
      ids.push_back(found.id);
      position = found.end;
    });
    if (position < text.size()) encode_part(text.substr(position), position == 0);
  }

  /// A text without added tokens.
  void encode_plain(std::string_view text, bool from_start, Ids& ids) {
    if (parts.words) {
      const bool lacks_space = parts.words->add_prefix_space && !text.starts_with(' ');
      const std::string with_space = lacks_space ? std::string(1, ' ').append(text) : std::string();
      model.of_bytes().encode_words(parts.words->pattern, lacks_space ? with_space : text, true, ids);
      return;
    }
    PieceList pieces({std::string(text), from_start});
    parts.pre_tokenizers.apply(pieces);
    for (const TextSpan piece : pieces.pieces) model.encode(pieces.piece(piece), ids);
  }

  /// What Encoder::encode_decided does, for tokenizers that decide early.
  std::size_t encode_decided(const AddedTokenSearch& tokens, std::string_view text, bool complete, Ids& ids) {
    // A token that begins later might be cut off, or be the beginning of a longer one.
    const std::size_t end = complete ? text.size() : text.size() - std::min(text.size(), tokens.longest());
    std::size_t position = 0;
    const auto encode_part = [&](std::string_view part, bool part_is_complete) {
      const bool is_raw = &tokens == &parts.raw_tokens;
      return is_raw ? encode_decided(parts.normalized_tokens, part, part_is_complete, ids)
                    : encode_decided_words(part, part_is_complete, ids);
    };
    tokens.for_each(text, end, [&](const AddedTokenSearch::Found& found) {
      encode_part(text.substr(position, found.begin - position), true);
      ids.push_back(found.id);
      position = found.end;
    });
    if (position >= end) return position;
    return position + encode_part(text.substr(position, end - position), complete);
  }

  std::size_t encode_decided_words(std::string_view text, bool complete, Ids& ids) {
    if (!complete) text = text.substr(0, complete_utf8_prefix(text));
    return model.of_bytes().encode_words(parts.words->pattern, text, complete, ids);
  }

  const SpecialTokenFrame& frame;
  const TokenizerParts& parts;
  ModelEncoder model;
};

Encoder::Encoder(const Tokenizer& tokenizer) : state_(std::make_unique<State>(tokenizer)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

void Encoder::encode(std::string_view text, std::vector<std::int32_t>& ids, SpecialTokens special) {
  const auto append = [&](const std::vector<std::int32_t>& more) {
    if (special == SpecialTokens::around_text) ids.insert(ids.end(), more.begin(), more.end());
  };
  append(state_->frame.before);
  if (valid_utf8_prefix(text) == text.size()) {
    state_->encode(text, ids);
  } else {
    state_->encode(replace_invalid_utf8(text), ids);
  }
  append(state_->frame.after);
}

std::size_t Encoder::encode_decided(std::string_view text, std::vector<std::int32_t>& ids) {
  return state_->parts.decides_early() ? state_->encode_decided(state_->parts.raw_tokens, text, false, ids) : 0;
}

}  // namespace monomorph::data
