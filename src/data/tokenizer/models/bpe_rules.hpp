#pragma once
#include "data/tokenizer/definition/vocabulary.hpp"

#include <monomorph/data/bpe/merge_table.hpp>
#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <vector>

namespace monomorph::data {

/// The merges of a model with the tokens that they make, by rank.
/// @throws [TOK-03] if one makes a token that the vocabulary lacks
std::vector<MergeRule> bpe_rules(const tokenizer_models::Bpe& bpe, const Vocabulary& vocabulary);

}  // namespace monomorph::data
