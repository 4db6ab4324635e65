#include <monomorph/data/byte_level.hpp>
#include <monomorph/data/gpt2_words.hpp>
#include <monomorph/data/tokenizer.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

// Words beyond these are rare, and remembering them would cost more than it saves.
constexpr std::size_t longest_known_word = 32;
constexpr std::size_t most_known_words = 1 << 17;

}  // namespace

void Encoder::encode(std::string_view text, std::vector<std::int32_t>& ids) {
  encode_whole(tokenizer_.added_tokens_, text, ids);
}

void Encoder::encode_plain(std::string_view text, std::vector<std::int32_t>& ids) {
  encode_whole(tokenizer_.ordinary_added_tokens_, text, ids);
}

void Encoder::encode_whole(Passes passes, std::string_view text, std::vector<std::int32_t>& ids) {
  if (valid_utf8_prefix(text) == text.size()) {
    encode_pass(passes, text, true, ids);
  } else {
    encode_pass(passes, replace_invalid_utf8(text), true, ids);
  }
}

std::size_t Encoder::encode_pass(Passes passes, std::string_view text, bool complete, std::vector<std::int32_t>& ids) {
  if (passes.empty()) return encode_words(text, complete, ids);
  const auto& search = passes.front();
  const Passes later = passes.subspan(1);
  // A token that begins later might be cut off, or be the beginning of a longer one.
  const std::size_t end = complete ? text.size() : text.size() - std::min(text.size(), search.longest);
  std::size_t position = 0;
  while (const auto match = search.find(text, position, end)) {
    encode_pass(later, text.substr(position, match->begin - position), true, ids);
    ids.push_back(match->token->id);
    position = match->begin + match->token->content.size();
  }
  if (position >= end) return position;
  return position + encode_pass(later, text.substr(position, end - position), complete, ids);
}

std::size_t Encoder::encode_words(std::string_view text, bool complete, std::vector<std::int32_t>& ids) {
  if (!complete) text = text.substr(0, complete_utf8_prefix(text));
  std::size_t position = 0;
  while (position < text.size()) {
    const std::string_view rest = text.substr(position);
    const std::size_t length = gpt2_word_length(rest);
    if (!complete && length + gpt2_lookahead_bytes > rest.size()) break;
    encode_word(rest.substr(0, length), ids);
    position += length;
  }
  return position;
}

void Encoder::encode_word(std::string_view word, std::vector<std::int32_t>& ids) {
  const bool memorable = word.size() <= longest_known_word;
  if (memorable) {
    if (const auto known = known_words_.find(word); known != known_words_.end()) {
      const auto [begin, size] = known->second;
      ids.insert(ids.end(), known_ids_.begin() + static_cast<std::ptrdiff_t>(begin),
                 known_ids_.begin() + static_cast<std::ptrdiff_t>(begin + size));
      return;
    }
  }
  const std::size_t begin = ids.size();
  if (tokenizer_.definition_.ignore_merges) {
    if (const auto whole = tokenizer_.find(to_byte_level(word))) {
      ids.push_back(*whole);
      return;
    }
  }
  for (const char byte : word) ids.push_back(tokenizer_.id_of_byte_[static_cast<unsigned char>(byte)]);
  merger_.merge(ids, begin);
  if (memorable) remember(word, std::span(ids).subspan(begin));
}

void Encoder::remember(std::string_view word, std::span<const std::int32_t> ids) {
  if (known_words_.size() == most_known_words) {
    known_words_.clear();
    known_ids_.clear();
  }
  known_words_.emplace(word, Remembered{known_ids_.size(), ids.size()});
  known_ids_.insert(known_ids_.end(), ids.begin(), ids.end());
}

}  // namespace monomorph::data
