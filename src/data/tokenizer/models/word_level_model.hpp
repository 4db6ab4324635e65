#pragma once
#include "data/tokenizer/definition/vocabulary.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// Every piece is one token. Immutable; threads may share one.
class WordLevelModel {
 public:
  /// @param vocabulary must outlive it
  WordLevelModel(const Vocabulary& vocabulary, std::string unk_token)
      : vocabulary_(vocabulary), unk_token_(std::move(unk_token)) {}

  /// Appends the id of a piece.  @throws [TOK-12] if it has none and the vocabulary lacks the unk_token
  void encode(std::string_view piece, std::vector<std::int32_t>& ids) const;

 private:
  const Vocabulary& vocabulary_;
  std::string unk_token_;
};

}  // namespace monomorph::data
