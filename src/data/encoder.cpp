#include <monomorph/data/tokenizer.hpp>

#include <algorithm>

namespace monomorph::data {
void Encoder::encode(std::string_view text, std::vector<std::int32_t>& ids) {
  if (valid_utf8_prefix(text) == text.size()) {
    encode_pass(0, text, true, ids);
  } else {
    encode_pass(0, replace_invalid_utf8(text), true, ids);
  }
}

std::size_t Encoder::encode_pass(std::size_t pass, std::string_view text, bool complete,
                                 std::vector<std::int32_t>& ids) {
  if (pass == tokenizer_.added_token_passes_.size()) {
    if (!complete) text = text.substr(0, complete_utf8_prefix(text));
    return bpe_.encode_words(WordPattern::gpt2, text, complete, ids);
  }
  const auto& search = tokenizer_.added_token_passes_[pass];
  // A token that begins later might be cut off, or be the beginning of a longer one.
  const std::size_t end = complete ? text.size() : text.size() - std::min(text.size(), search.longest);
  std::size_t position = 0;
  while (const auto match = search.find(text, position, end)) {
    encode_pass(pass + 1, text.substr(position, match->begin - position), true, ids);
    ids.push_back(match->token->id);
    position = match->begin + match->token->content.size();
  }
  if (position >= end) return position;
  return position + encode_pass(pass + 1, text.substr(position, end - position), complete, ids);
}

}  // namespace monomorph::data
