#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/tokenizer/models/word_piece_model.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

PieceTrie trie_after(std::string_view prefix, std::span<const std::string> pieces) {
  std::vector<PieceTrie::Entry> entries;
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string_view piece = pieces[id];
    if (piece.starts_with(prefix)) entries.emplace_back(piece.substr(prefix.size()), static_cast<std::int32_t>(id));
  }
  return PieceTrie(std::move(entries));
}

}  // namespace

WordPieceModel::WordPieceModel(std::span<const std::string> pieces, WordPieceSettings settings)
    : settings_(std::move(settings)),
      first_(trie_after("", pieces)),
      continuing_(trie_after(settings_.continuing_subword_prefix, pieces)) {}

void WordPieceModel::encode(std::string_view word, std::vector<std::int32_t>& ids) const {
  if (is_too_long(word)) {
    ids.push_back(unknown(word));
    return;
  }
  const std::size_t n_before = ids.size();
  for (std::size_t position = 0; position < word.size();) {
    const PieceTrie& pieces = position == 0 ? first_ : continuing_;
    const PieceTrie::Match match = pieces.longest_prefix(word.substr(position));
    if (match.length == 0) {
      ids.resize(n_before);
      ids.push_back(unknown(word));
      return;
    }
    ids.push_back(match.value);
    position += match.length;
  }
}

bool WordPieceModel::is_too_long(std::string_view word) const {
  const std::size_t most = settings_.max_input_chars_per_word;
  if (word.size() <= most) return false;
  const auto starts_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; };
  return static_cast<std::size_t>(std::count_if(word.begin(), word.end(), starts_character)) > most;
}

std::int32_t WordPieceModel::unknown(std::string_view word) const {
  if (const auto id = find(settings_.unknown_token)) return *id;
  throw Error("TOK-42",
              fmt::format("the tokenizer has no pieces for the word {} and its vocabulary lacks the unknown token "
                          "{}; use one that has it, or take the word out of the text",
                          in_quotes(word), in_quotes(settings_.unknown_token)));
}

std::optional<std::int32_t> WordPieceModel::find(std::string_view piece) const {
  const std::int32_t id = first_.find(piece);
  return id < 0 ? std::nullopt : std::optional(id);
}

}  // namespace monomorph::data
