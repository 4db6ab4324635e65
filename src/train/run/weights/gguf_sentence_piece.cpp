#include "train/run/weights/gguf_sentence_piece.hpp"

#include "train/run/weights/gguf_vocabulary.hpp"

#include <monomorph/core/file_error.hpp>
#include <monomorph/data/bpe/pair_table.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace monomorph::train {
namespace {

constexpr std::string_view space_mark = "\xE2\x96\x81";
constexpr int n_bytes = 256;

/// What becomes of spaces before characters are merged.
struct Spaces {
  bool before_text = false;    ///< one is put there
  bool only_at_start = false;  ///< and before no text behind a special token
  bool unless_there = false;   ///< and before no text that begins with one
  bool cut_words = false;      ///< no merge goes over the beginning of a word
};

bool is_space_marker(const data::Normalizer& step) {
  const auto* const replace = std::get_if<data::normalizers::Replace>(&step);
  return replace != nullptr && !replace->pattern.is_regex && replace->pattern.text == " " &&
         replace->content == space_mark;
}
bool is_space_before_text(const data::Normalizer& step) {
  const auto* const prepend = std::get_if<data::normalizers::Prepend>(&step);
  return prepend != nullptr && prepend->text == space_mark;
}
/// Of text that has no spaces any more.
bool cuts_nothing(const std::vector<data::PreTokenizer>& steps) {
  if (steps.empty()) return true;
  const auto* const split = std::get_if<data::pre_tokenizers::Split>(&steps.front());
  return steps.size() == 1 && split != nullptr && !split->pattern.is_regex && split->pattern.text == " " &&
         !split->invert;
}

/// @throws UsageError [GGUF-02]
Spaces spaces_of(const data::TokenizerDefinition& definition) {
  const auto& normalizers = definition.normalizers;
  const auto& cuts = definition.pre_tokenizers;
  if (normalizers.size() == 1 && is_space_marker(normalizers[0]) && cuts_nothing(cuts)) return {};
  if (normalizers.size() == 2 && is_space_before_text(normalizers[0]) && is_space_marker(normalizers[1]) &&
      cuts_nothing(cuts))
    return {.before_text = true};
  const auto* const mark = cuts.size() == 1 ? std::get_if<data::pre_tokenizers::Metaspace>(&cuts.front()) : nullptr;
  if (!normalizers.empty() || mark == nullptr || mark->replacement != space_mark)
    refuse_gguf_tokenizer("these steps before characters are merged");
  using enum data::pre_tokenizers::PrependScheme;
  return {.before_text = mark->prepend_scheme != never,
          .only_at_start = mark->prepend_scheme == first,
          .unless_there = mark->prepend_scheme != never,
          .cut_words = mark->split};
}

void note_spaces(const Spaces& spaces, std::vector<std::string>& notes) {
  if (spaces.only_at_start)
    notes.emplace_back(
        "llama.cpp puts a space before the text behind each special token, and this tokeniser only where "
        "a text begins");
  if (spaces.unless_there)
    notes.emplace_back("llama.cpp puts a space before a text that begins with one, too, and this tokeniser does not");
}

/// The tokens that merges make, and of what. llama.cpp has no merges: it joins any two neighbours that are a token
/// together, first those of the highest score and of these the leftmost. That is the same if all ways to make a token
/// are merges, one behind the other.
class MergedTokens {
 public:
  MergedTokens(const data::TokenizerDefinition& definition, const data::tokenizer_models::Bpe& bpe,
               const GgufVocabulary& vocabulary)
      : tokens_(definition.vocabulary), vocabulary_(vocabulary), merges_(bpe.merges.size()) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto id = static_cast<std::int32_t>(i);
      if (vocabulary.is(id, GgufTokenType::normal) || vocabulary.is(id, GgufTokenType::user_defined))
        ids_.emplace(tokens_[i], id);
    }
    rank(bpe);
  }

  /// The earlier its merges the higher, and the same of tokens whose merges are mixed; of a token that no merge makes
  /// the lowest.
  std::vector<float> scores(std::size_t vocab_size) const {
    std::vector<float> scores(vocab_size);
    for (const auto& [token, id] : ids_) scores[static_cast<std::size_t>(id)] = -static_cast<float>(rank_of_others_);
    for (const auto& [id, rank] : ranks_) scores[static_cast<std::size_t>(id)] = -static_cast<float>(rank);
    return scores;
  }

  /// Of those whose merges are mixed, as of SentencePiece's tokens of one score.
  void note_mixed(std::vector<std::string>& notes) const {
    if (mixed_.empty()) return;
    notes.push_back(
        fmt::format("llama.cpp joins the parts of some tokens from the left, such as those of {}, and this "
                    "tokeniser by the ranks of its merges",
                    in_quotes(tokens_[static_cast<std::size_t>(mixed_.front())])));
  }

  /// @throws UsageError [GGUF-02] there are merges that llama.cpp knows and these do not
  void check_complete(std::vector<std::string>& notes) const {
    std::size_t n_more = 0;
    std::string_view one_of_them;
    for (const std::string& token : tokens_) {
      const auto found = ids_.find(token);
      if (found == ids_.end() || !vocabulary_.is(found->second, GgufTokenType::normal)) continue;
      const auto [n_known, n_unknown] = ways_to_make(token);
      if (n_known > 0 && n_unknown > 0)
        refuse_gguf_tokenizer(
            fmt::format("merges that make {} of some of its parts and not of others: it joins any two "
                        "that are a token together",
                        in_quotes(token)));
      if (n_unknown > 0 && n_more++ == 0) one_of_them = token;
    }
    if (n_more > 0)
      notes.push_back(fmt::format("llama.cpp joins the parts of {} tokens that this tokeniser never makes, such as {}",
                                  n_more, in_quotes(one_of_them)));
  }

  /// @throws UsageError [GGUF-02] there are such as go over the beginning of a word
  void check_within_words() const {
    for (const std::string& token : tokens_)
      if (ids_.contains(token) && token.find(space_mark, 1) != std::string::npos)
        refuse_gguf_tokenizer("words that are cut before their spaces, and the token " + in_quotes(token));
  }

 private:
  /// The merges of a token, by their ranks: from the first to the last.
  struct Made {
    std::int32_t token;
    std::size_t first, last;
  };

  void rank(const data::tokenizer_models::Bpe& bpe) {
    std::vector<Made> all;  // by their first merges
    std::unordered_map<std::int32_t, std::size_t> places;
    for (std::size_t rank = 0; rank < bpe.merges.size(); ++rank) {
      const auto& [left, right] = bpe.merges[rank];
      merges_[{left, right}] = true;
      const auto made = ids_.find(tokens_[static_cast<std::size_t>(left)] + tokens_[static_cast<std::size_t>(right)]);
      if (made == ids_.end()) continue;
      const auto [place, is_new] = places.emplace(made->second, all.size());
      if (is_new) all.push_back({made->second, rank, rank});
      all[place->second].last = rank;
    }
    std::size_t last = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_mixed = i > 0 && all[i].first < last;
      if (is_mixed && !is_of_spaces(all[i].token)) mixed_.push_back(all[i].token);
      ranks_.emplace(all[i].token, is_mixed ? rank_of_others_ - 1 : rank_of_others_++);
      last = std::max(last, all[i].last);
    }
  }

  /// Of runs of spaces both orders make the same.
  bool is_of_spaces(std::int32_t id) const {
    std::string_view token = tokens_[static_cast<std::size_t>(id)];
    while (token.starts_with(space_mark)) token.remove_prefix(space_mark.size());
    return token.empty();
  }

  struct Ways {
    int known = 0, unknown = 0;
  };
  /// To make a token of two parts, each of which is a token or one character, as far as they are merges and not.
  Ways ways_to_make(const std::string& token) const {
    Ways ways;
    std::vector<std::size_t> ends;  // of its characters
    for (std::size_t at = 0; at < token.size(); ends.push_back(at))
      at += data::first_character(std::string_view(token).substr(at)).n_bytes;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      const auto left = ids_.find(token.substr(0, ends[i])), right = ids_.find(token.substr(ends[i]));
      const bool left_is_there = left != ids_.end(), right_is_there = right != ids_.end();
      if ((!left_is_there && i > 0) || (!right_is_there && i + 2 < ends.size())) continue;
      const bool is_merge = left_is_there && right_is_there && merges_.find({left->second, right->second}) != nullptr;
      ++(is_merge ? ways.known : ways.unknown);
    }
    return ways;
  }

  const std::vector<std::string>& tokens_;
  const GgufVocabulary& vocabulary_;
  std::unordered_map<std::string, std::int32_t> ids_;  ///< of tokens that are merged
  data::PairTable<bool> merges_;
  std::unordered_map<std::int32_t, std::size_t> ranks_;  ///< of the tokens that merges make
  std::size_t rank_of_others_ = 0;
  std::vector<std::int32_t> mixed_;
};

/// @throws UsageError [GGUF-02] not all bytes have a token
void set_types_of_bytes(const data::Tokenizer& tokenizer, GgufVocabulary& vocabulary) {
  for (int byte = 0; byte < n_bytes; ++byte) {
    const auto id = tokenizer.find(fmt::format("<0x{:02X}>", byte));
    if (!id) refuse_gguf_tokenizer(fmt::format("no token for the byte 0x{:02X}", byte));
    vocabulary.set(*id, GgufTokenType::byte);
  }
}

/// Added tokens that are looked for among marks of spaces are found there in the text before it has any.
void unmark_spaces_of_added(const data::TokenizerDefinition& definition, GgufVocabulary& vocabulary) {
  for (const data::AddedToken& added : definition.added_tokens) {
    if (added.special || !added.normalized) continue;
    std::string& token = vocabulary.tokens[static_cast<std::size_t>(added.id)];
    for (std::size_t at = 0; (at = token.find(space_mark, at)) != std::string::npos; ++at)
      token.replace(at, space_mark.size(), " ");
  }
}

}  // namespace

void add_sentence_piece_bpe(const data::Tokenizer& tokenizer, const data::tokenizer_models::Bpe& bpe,
                            std::int64_t vocab_size, runtime::GgufMetadata& metadata, std::vector<std::string>& notes) {
  if (bpe.ignore_merges || !bpe.continuing_subword_prefix.empty() || !bpe.end_of_word_suffix.empty())
    refuse_gguf_tokenizer("ignore_merges or marks within words beside byte_fallback");
  const Spaces spaces = spaces_of(tokenizer.definition());
  note_spaces(spaces, notes);
  GgufVocabulary vocabulary = gguf_vocabulary(tokenizer, vocab_size);
  set_types_of_bytes(tokenizer, vocabulary);
  if (const auto unknown = bpe.unk_token ? tokenizer.find(*bpe.unk_token) : std::nullopt)
    vocabulary.set(*unknown, GgufTokenType::unknown);
  const MergedTokens merged(tokenizer.definition(), bpe, vocabulary);
  if (spaces.cut_words) merged.check_within_words();
  merged.check_complete(notes);
  merged.note_mixed(notes);
  unmark_spaces_of_added(tokenizer.definition(), vocabulary);
  const std::vector<float> scores = merged.scores(vocabulary.tokens.size());
  metadata.add("tokenizer.ggml.model", std::string_view("llama"));
  metadata.add("tokenizer.ggml.pre", std::string_view("default"));
  metadata.add("tokenizer.ggml.tokens", std::span<const std::string>(vocabulary.tokens));
  metadata.add("tokenizer.ggml.scores", std::span<const float>(scores));
  metadata.add("tokenizer.ggml.token_type", std::span<const std::int32_t>(vocabulary.types));
  metadata.add_flag("tokenizer.ggml.add_space_prefix", spaces.before_text);
}

}  // namespace monomorph::train
