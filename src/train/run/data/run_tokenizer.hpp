#pragma once
#include <memory>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <string>
#include <vector>

namespace monomorph::train {

/// The tokeniser of a run's data, as commands use it.
struct RunTokenizer {
  std::unique_ptr<const data::Tokenizer> tokenizer;  ///< as within_vocabulary has it
  std::vector<data::AddedToken> left_out;            ///< for which the model has no rows
  std::string note;                                  ///< as note_tokens_left_out has it, for the command to tell once
};

/// @throws UsageError as within_vocabulary; [FILE-NN], [TOK-NN]
RunTokenizer read_run_tokenizer(const std::string& file, const RecipeProgram& recipe);

/// A tokeniser without the added tokens for which the recipe's vocabulary has no room: a text that names one has its
/// letters. Gemma 3's models of texts, for one, come with a token for images, behind their tables' last rows.
/// @throws UsageError [RUN-07] other ids have no room either
std::unique_ptr<const data::Tokenizer> within_vocabulary(std::unique_ptr<const data::Tokenizer> whole,
                                                         const std::string& file, const RecipeProgram& recipe);
/// A line for the user that names them; empty if there are none.
std::string note_tokens_left_out(const data::Tokenizer& whole, const std::string& file, const RecipeProgram& recipe);

}  // namespace monomorph::train
