#include "data/tokenizer/models/word_level_model.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

namespace monomorph::data {

void WordLevelModel::encode(std::string_view piece, std::vector<std::int32_t>& ids) const {
  auto id = vocabulary_.find(piece);
  if (!id) id = vocabulary_.find(unk_token_);
  if (!id) {
    throw Error("TOK-12", fmt::format("the word {} has no token, and the tokenizer's unk_token {} is not in its "
                                      "vocabulary; add it there",
                                      in_quotes(piece), in_quotes(unk_token_)));
  }
  ids.push_back(*id);
}

}  // namespace monomorph::data
