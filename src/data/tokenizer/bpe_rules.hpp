#pragma once
#include "data/tokenizer/vocabulary.hpp"

#include <monomorph/data/merge_table.hpp>
#include <monomorph/data/tokenizer_definition.hpp>

#include <vector>

namespace monomorph::data {

/// The merges of a model with the tokens that they make, by rank.
/// @throws [TOK-03] if one makes a token that the vocabulary lacks
std::vector<MergeRule> bpe_rules(const tokenizer_models::Bpe& bpe, const Vocabulary& vocabulary);

}  // namespace monomorph::data
