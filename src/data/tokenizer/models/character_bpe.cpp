#include "data/tokenizer/models/character_bpe.hpp"

#include "data/text/characters.hpp"
#include "data/tokenizer/definition/inconsistency.hpp"
#include "data/tokenizer/models/bpe_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr std::string_view metaspace = "\xE2\x96\x81";

/// The first place where something else is followed by a metaspace.
std::size_t find_metaspace_within(std::string_view text) {
  for (std::size_t found = text.find(metaspace); found != std::string_view::npos;
       found = text.find(metaspace, found + metaspace.size())) {
    if (found > 0 && !text.substr(0, found).ends_with(metaspace)) return found;
  }
  return std::string_view::npos;
}

}  // namespace

CharacterBpe::CharacterBpe(const tokenizer_models::Bpe& settings, const Vocabulary& vocabulary)
    : settings_(settings), vocabulary_(vocabulary) {
  settings_.merges.clear();
  const std::vector<MergeRule> rules = bpe_rules(settings, vocabulary);
  merges_ = MergeTable(rules);
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& token = vocabulary.token(id);
    if (!is_one_character(token)) continue;
    const std::size_t code_point = first_character(token).code_point;
    if (code_point >= id_of_character_.size()) id_of_character_.resize(code_point + 1, none);
    id_of_character_[code_point] = id;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    id_of_byte_[byte] = vocabulary.find(fmt::format("<0x{:02X}>", byte)).value_or(none);
  }
  if (settings_.unk_token) unknown_id_ = vocabulary.find(*settings_.unk_token).value_or(none);
  parts_at_metaspace_ = joins_nothing_to_metaspace(rules);
}

/// No merge makes a token with a metaspace after something else, and nothing else looks across such a place.
bool CharacterBpe::joins_nothing_to_metaspace(const std::vector<MergeRule>& rules) const {
  const bool looks_at_ends = !settings_.continuing_subword_prefix.empty() || !settings_.end_of_word_suffix.empty();
  if (looks_at_ends || settings_.ignore_merges || !vocabulary_.find(metaspace)) return false;
  return std::none_of(rules.begin(), rules.end(), [&](const MergeRule& rule) {
    return find_metaspace_within(vocabulary_.token(rule.token)) != std::string_view::npos;
  });
}

std::size_t CharacterBpe::first_part(std::string_view piece) const {
  if (!parts_at_metaspace_) return piece.size();
  return std::min(find_metaspace_within(piece), piece.size());
}

std::string CharacterBpe::with_affixes(std::string_view character, bool is_first, bool is_last) const {
  std::string token = is_first ? "" : settings_.continuing_subword_prefix;
  token += character;
  if (is_last) token += settings_.end_of_word_suffix;
  return token;
}

std::int32_t CharacterBpe::unknown_id(std::string_view character) const {
  if (unknown_id_ != none) return unknown_id_;
  throw Error("TOK-12", fmt::format("the character {} has no token, and the tokenizer's unk_token {} is not in its "
                                    "vocabulary; add it there",
                                    in_quotes(character), in_quotes(*settings_.unk_token)));
}

bool CharacterBpe::append_bytes(std::string_view character, std::vector<std::int32_t>& ids) const {
  const std::size_t n_before = ids.size();
  for (const char byte : character) {
    const std::int32_t id = id_of_byte_[static_cast<unsigned char>(byte)];
    if (id == none) {
      ids.resize(n_before);
      return false;
    }
    ids.push_back(id);
  }
  return true;
}

void CharacterBpe::encode(std::string_view piece, BytePairMerger& merger, std::vector<std::int32_t>& ids) const {
  if (settings_.ignore_merges) {
    if (const auto whole = vocabulary_.find(piece)) return ids.push_back(*whole);
  }
  const bool has_affixes = !settings_.continuing_subword_prefix.empty() || !settings_.end_of_word_suffix.empty();
  const std::size_t n_before = ids.size();
  bool has_unknown = false;  // as in the package, it is written only when the next known character is met
  std::size_t position = 0;
  for_each_character(piece, [&](char32_t code_point, std::string_view bytes) {
    const bool is_first = position == 0;
    position += bytes.size();
    std::int32_t id = code_point < id_of_character_.size() ? id_of_character_[code_point] : none;
    std::string token;
    if (has_affixes) {
      token = with_affixes(bytes, is_first, position == piece.size());
      id = vocabulary_.find(token).value_or(none);
    }
    if (id != none) {
      if (has_unknown) ids.push_back(unknown_id_);
      has_unknown = false;
      ids.push_back(id);
      return;
    }
    if (settings_.byte_fallback && append_bytes(has_affixes ? token : bytes, ids)) return;
    if (!settings_.unk_token) return;
    if (has_unknown && !settings_.fuse_unk) ids.push_back(unknown_id_);
    has_unknown = unknown_id(bytes) != none;
  });
  if (has_unknown) ids.push_back(unknown_id_);
  merger.merge(ids, n_before);
}

}  // namespace monomorph::data
