#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <string_view>
#include <vector>

namespace monomorph::data {

/// The longest special token that `text` begins with; null if it begins with none.
inline const AddedToken* special_token_at(std::string_view text, const std::vector<AddedToken>& added_tokens) {
  const AddedToken* longest = nullptr;
  for (const AddedToken& token : added_tokens) {
    if (token.special && text.starts_with(token.content) &&
        (longest == nullptr || token.content.size() > longest->content.size())) {
      longest = &token;
    }
  }
  return longest;
}

}  // namespace monomorph::data
