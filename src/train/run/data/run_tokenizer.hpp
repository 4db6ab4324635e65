#pragma once
#include <memory>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <string>

namespace monomorph::train {

/// The tokeniser of a run's data.
/// @throws UsageError [RUN-07] it has ids for which the recipe's vocabulary has no room; [FILE-NN], [TOK-NN]
std::unique_ptr<const data::Tokenizer> read_run_tokenizer(const std::string& file, const RecipeProgram& recipe);

}  // namespace monomorph::train
