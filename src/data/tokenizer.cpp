#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/byte_level.hpp>
#include <monomorph/data/tokenizer.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

template <class... Arguments>
[[noreturn]] void throw_inconsistent(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw UsageError("[TOK-03] the tokenizer contradicts itself: " +
                   fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace

Tokenizer::Tokenizer(TokenizerDefinition definition)
    : definition_(std::move(definition)), merges_(definition_.merges.size()) {
  index_vocabulary();
  add_merges();
  prepare_added_tokens();
}

void Tokenizer::index_vocabulary() {
  const std::vector<std::string>& vocabulary = definition_.vocabulary;
  ids_.reserve(vocabulary.size());
  for (std::size_t id = 0; id < vocabulary.size(); ++id) {
    // Characters outside the alphabet can only be meant as they are (tokens added by hand).
    bytes_.push_back(from_byte_level(vocabulary[id]).value_or(vocabulary[id]));
    if (vocabulary[id].empty()) continue;
    const auto [known, is_new] = ids_.emplace(vocabulary[id], static_cast<std::int32_t>(id));
    if (!is_new) throw_inconsistent("the token {} has the ids {} and {}", in_quotes(vocabulary[id]), known->second, id);
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const auto id = find(byte_level_alphabet()[byte]);
    if (!id) throw_inconsistent("the vocabulary lacks a token for the byte 0x{:02X}, so not every text has ids", byte);
    id_of_byte_[byte] = *id;
  }
}

void Tokenizer::add_merges() {
  const auto n_tokens = static_cast<std::int32_t>(definition_.vocabulary.size());
  std::int32_t rank = 0;
  for (const TokenPair pair : definition_.merges) {
    if (pair.left < 0 || pair.left >= n_tokens || pair.right < 0 || pair.right >= n_tokens) {
      throw_inconsistent("merge {} names an id outside the vocabulary", rank);
    }
    const std::string merged = definition_.vocabulary[static_cast<std::size_t>(pair.left)] +
                               definition_.vocabulary[static_cast<std::size_t>(pair.right)];
    const auto id = find(merged);
    if (!id) throw_inconsistent("merge {} makes {}, which is not in the vocabulary", rank, in_quotes(merged));
    merges_[pair] = {rank++, *id};
  }
}

void Tokenizer::prepare_added_tokens() {
  special_.resize(bytes_.size());
  for (const AddedToken& token : definition_.added_tokens) {
    const auto id = find(token.content);
    if (!id || *id != token.id) {
      throw_inconsistent("the added token {} has the id {}, which the vocabulary gives to another or not at all",
                         in_quotes(token.content), token.id);
    }
    special_[static_cast<std::size_t>(token.id)] = token.special;
    const std::size_t pass = token.normalized ? 1 : 0;
    added_tokens_[pass].add(token);
    if (!token.special) ordinary_added_tokens_[pass].add(token);
  }
}

void Tokenizer::AddedTokenSearch::add(const AddedToken& token) {
  const auto is_longer = [](const auto* a, const auto* b) { return a->content.size() > b->content.size(); };
  longest_first.insert(std::upper_bound(longest_first.begin(), longest_first.end(), &token, is_longer), &token);
  starts_one[static_cast<unsigned char>(token.content[0])] = true;
  longest = std::max(longest, token.content.size());
}

std::optional<Tokenizer::AddedTokenSearch::Match> Tokenizer::AddedTokenSearch::find(std::string_view text,
                                                                                    std::size_t begin,
                                                                                    std::size_t end) const {
  if (longest_first.empty()) return std::nullopt;
  for (std::size_t i = begin; i < end; ++i) {
    if (!starts_one[static_cast<unsigned char>(text[i])]) continue;
    for (const AddedToken* token : longest_first) {
      if (text.substr(i).starts_with(token->content)) return Match{i, token};
    }
  }
  return std::nullopt;
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  Encoder(*this).encode(text, ids);
  return ids;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const std::int32_t id : ids) {
    const std::string& token = bytes_of(id);
    if (!(skip_special && is_special(id))) bytes += token;
  }
  return replace_invalid_utf8(bytes);
}

std::optional<std::int32_t> Tokenizer::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string& Tokenizer::bytes_of(std::int32_t id) const {
  if (id < 0 || id >= vocab_size() || bytes_[static_cast<std::size_t>(id)].empty()) {
    throw Error(
        fmt::format("[TOK-04] the id {} has no token in this vocabulary of {}; is it the tokenizer that the ids "
                    "were made with?",
                    id, vocab_size()));
  }
  return bytes_[static_cast<std::size_t>(id)];
}

bool Tokenizer::is_special(std::int32_t id) const {
  return id >= 0 && id < vocab_size() && special_[static_cast<std::size_t>(id)];
}

std::string StreamDecoder::push(std::int32_t id) {
  const std::string& bytes = tokenizer_.bytes_of(id);
  return stream_.push(skip_special_ && tokenizer_.is_special(id) ? std::string_view() : std::string_view(bytes));
}

std::vector<std::int32_t> token_byte_lengths(const Tokenizer& tokenizer) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(tokenizer.vocab_size()));
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const bool has_text =
        !tokenizer.is_special(id) && !tokenizer.definition().vocabulary[static_cast<std::size_t>(id)].empty();
    lengths[static_cast<std::size_t>(id)] = has_text ? static_cast<std::int32_t>(tokenizer.bytes_of(id).size()) : 0;
  }
  return lengths;
}

}  // namespace monomorph::data
