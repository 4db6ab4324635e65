#include "data/tokenizer/parts.hpp"

#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <algorithm>
#include <optional>

namespace monomorph::data {
namespace {

/// What comes before a text that is encoded.
enum class Before { nothing, token, text };

Before before(TextPiece piece) { return piece == TextPiece::first ? Before::nothing : Before::text; }

/// What an encoder keeps for a tokenizer.json.
class PartsEncoder {
 public:
  using Ids = std::vector<std::int32_t>;

  PartsEncoder(const TokenizerParts& parts, std::size_t most_cache_bytes)
      : parts_(parts), model_(parts.model, most_cache_bytes) {}

  /// Cuts at the added tokens of the text as it is, then at those of the text as the normalizers make it.
  void encode(std::string_view text, FindTokens which, Before before, Ids& ids) {
    encode_between(parts_.raw_tokens, which, text, ids, [&](std::string_view part, bool is_first) {
      const bool from_start = is_first && before == Before::nothing;
      if (parts_.normalizers.empty()) return encode_normalized(part, which, from_start, ids);
      TextInWork work{std::string(part), from_start, is_first && before == Before::text};
      parts_.normalizers.apply(work);
      encode_normalized(work.text, which, work.from_start, ids);
    });
  }

  /// Does what Encoder::encode_decided says.
  std::size_t encode_decided(std::string_view text, Before before, Ids& ids) {
    if (parts_.decides_early()) return encode_decided(parts_.raw_tokens, text, false, ids);
    const std::size_t cut = parts_.cutter.last_cut(text);
    if (cut > 0) encode(text.substr(0, cut), FindTokens::all, before, ids);
    return cut;
  }

 private:
  void encode_normalized(std::string_view text, FindTokens which, bool from_start, Ids& ids) {
    encode_between(parts_.normalized_tokens, which, text, ids,
                   [&](std::string_view part, bool is_first) { encode_plain(part, from_start && is_first, ids); });
  }

  template <class EncodePart>
  void encode_between(const AddedTokenSearch& tokens, FindTokens which, std::string_view text, Ids& ids,
                      EncodePart encode_part) {
    std::size_t position = 0;
    tokens.for_each(text, text.size(), which, [&](const AddedTokenSearch::Found& found) {
      if (found.begin > position) encode_part(text.substr(position, found.begin - position), position == 0);
      ids.push_back(found.id);
      position = found.end;
    });
    if (position < text.size()) encode_part(text.substr(position), position == 0);
  }

  /// A text without added tokens.
  void encode_plain(std::string_view text, bool from_start, Ids& ids) {
    if (parts_.words) {
      const bool lacks_space = parts_.words->add_prefix_space && !text.starts_with(' ');
      const std::string with_space = lacks_space ? std::string(1, ' ').append(text) : std::string();
      model_.of_bytes().encode_words(parts_.words->pattern, lacks_space ? with_space : text, true, ids);
      return;
    }
    PieceList pieces({std::string(text), from_start});
    parts_.pre_tokenizers.apply(pieces);
    for (const TextSpan piece : pieces.pieces) model_.encode(pieces.piece(piece), ids);
  }

  std::size_t encode_decided(const AddedTokenSearch& tokens, std::string_view text, bool complete, Ids& ids) {
    // A token that begins later might be cut off, or be the beginning of a longer one.
    const std::size_t end = complete ? text.size() : text.size() - std::min(text.size(), tokens.longest());
    std::size_t position = 0;
    const auto encode_part = [&](std::string_view part, bool part_is_complete) {
      const bool is_raw = &tokens == &parts_.raw_tokens;
      return is_raw ? encode_decided(parts_.normalized_tokens, part, part_is_complete, ids)
                    : encode_decided_words(part, part_is_complete, ids);
    };
    tokens.for_each(text, end, FindTokens::all, [&](const AddedTokenSearch::Found& found) {
      encode_part(text.substr(position, found.begin - position), true);
      ids.push_back(found.id);
      position = found.end;
    });
    if (position >= end) return position;
    return position + encode_part(text.substr(position, end - position), complete);
  }

  std::size_t encode_decided_words(std::string_view text, bool complete, Ids& ids) {
    if (!complete) text = text.substr(0, complete_utf8_prefix(text));
    return model_.of_bytes().encode_words(parts_.words->pattern, text, complete, ids);
  }

  const TokenizerParts& parts_;
  ModelEncoder model_;
};

}  // namespace

struct Encoder::State {
  State(const Tokenizer& source, std::size_t most_cache_bytes) : tokenizer(source) {
    if (source.parts_) parts.emplace(*source.parts_, most_cache_bytes);
  }

  void encode(std::string_view text, FindTokens which, Before before, std::vector<std::int32_t>& ids) {
    if (!parts) {
      tokenizer.sentence_piece_->encode(text, ids);
    } else if (valid_utf8_prefix(text) == text.size()) {
      parts->encode(text, which, before, ids);
    } else {
      parts->encode(replace_invalid_utf8(text), which, before, ids);
    }
  }

  const Tokenizer& tokenizer;
  std::optional<PartsEncoder> parts;  ///< none for a SentencePiece file
};

Encoder::Encoder(const Tokenizer& tokenizer, std::size_t most_cache_bytes)
    : state_(std::make_unique<State>(tokenizer, most_cache_bytes)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

void Encoder::encode(std::string_view text, std::vector<std::int32_t>& ids, SpecialTokens special) {
  const auto append = [&](std::span<const std::int32_t> more) {
    if (special == SpecialTokens::around_text) ids.insert(ids.end(), more.begin(), more.end());
  };
  append(state_->tokenizer.ids_before_text());
  state_->encode(text, FindTokens::all, Before::nothing, ids);
  append(state_->tokenizer.ids_after_text());
}

void Encoder::encode_plain(std::string_view text, std::vector<std::int32_t>& ids, bool from_start) {
  state_->encode(text, FindTokens::ordinary, from_start ? Before::nothing : Before::token, ids);
}

std::size_t Encoder::encode_decided(std::string_view text, std::vector<std::int32_t>& ids, TextPiece piece) {
  return state_->parts ? state_->parts->encode_decided(text, before(piece), ids) : 0;
}

void Encoder::encode_rest(std::string_view text, std::vector<std::int32_t>& ids, TextPiece piece) {
  state_->encode(text, FindTokens::all, before(piece), ids);
}

}  // namespace monomorph::data
