#include "data/tokenizer/added_token_search.hpp"

#include "data/text/unicode_sets.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr std::uint64_t edge(std::int32_t node, char byte) {
  return static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
}

/// The last character of a text that is not empty.
Utf8Character last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return first_character(text.substr(begin));
}

std::size_t trailing_space(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size()) {
    const Utf8Character character = last_character(text.substr(0, text.size() - size));
    if (!unicode::white_space().contains(character.code_point)) break;
    size += character.n_bytes;
  }
  return size;
}

bool is_word(const Utf8Character& character) { return unicode::word().contains(character.code_point); }

}  // namespace

void AddedTokenSearch::add(const std::string& content, const AddedToken& token) {
  std::int32_t node = 0;
  for (const char byte : content) {
    const auto [child, is_new] = children_.emplace(edge(node, byte), static_cast<std::int32_t>(token_at_node_.size()));
    if (is_new) token_at_node_.push_back(none);
    node = child->second;
  }
  std::int32_t& end = token_at_node_[static_cast<std::size_t>(node)];
  if (end != none) return;
  end = static_cast<std::int32_t>(tokens_.size());
  tokens_.push_back({token.id, token.special, token.single_word, token.lstrip, token.rstrip});
  starts_one_[static_cast<unsigned char>(content[0])] = true;
  longest_ = std::max(longest_, content.size());
  looks_around_ = looks_around_ || token.single_word || token.lstrip || token.rstrip;
}

std::optional<AddedTokenSearch::Match> AddedTokenSearch::longest_at(std::string_view text, std::size_t begin) const {
  std::optional<Match> longest;
  std::int32_t node = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const auto child = children_.find(edge(node, text[i]));
    if (child == children_.end()) break;
    node = child->second;
    const std::int32_t token = token_at_node_[static_cast<std::size_t>(node)];
    if (token != none) longest = Match{begin, i + 1 - begin, token};
  }
  return longest;
}

std::optional<AddedTokenSearch::Match> AddedTokenSearch::find(std::string_view text, std::size_t begin,
                                                              std::size_t end) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t i = begin; i < end; ++i) {
    if (!starts_one_[static_cast<unsigned char>(text[i])]) continue;
    if (const auto match = longest_at(text, i)) return match;
  }
  return std::nullopt;
}

std::optional<AddedTokenSearch::Found> AddedTokenSearch::settled(std::string_view text, const Match& match,
                                                                 FindTokens which, std::size_t taken) const {
  const Token& token = tokens_[static_cast<std::size_t>(match.token)];
  if (token.special && which == FindTokens::ordinary) return std::nullopt;
  Found found{match.begin, match.begin + match.length, token.id};
  const std::string_view before = text.substr(0, found.begin), after = text.substr(found.end);
  if (token.single_word) {
    const bool touches_word =
        (!before.empty() && is_word(last_character(before))) || (!after.empty() && is_word(first_character(after)));
    if (touches_word) return std::nullopt;
  }
  if (token.lstrip) found.begin = std::max(found.begin - trailing_space(before), taken);
  if (token.rstrip) found.end += unicode::leading_white_space(after);
  return found;
}

}  // namespace monomorph::data
