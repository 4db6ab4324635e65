#include "train/run/data/run_tokenizer.hpp"

#include "core/as_usage_error.hpp"

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

/// Added tokens behind the last row of the recipe's table.
auto has_no_row(const RecipeProgram& recipe) {
  return [&recipe](const data::AddedToken& token) { return token.id >= recipe.model->vocab_size; };
}

/// Whether a token that it puts around texts has no row.
bool surrounds_without_rows(const data::TokenizerDefinition& definition, const RecipeProgram& recipe) {
  const auto has_none = [&](std::int32_t id) { return id >= recipe.model->vocab_size; };
  return std::ranges::any_of(definition.frame.before, has_none) ||
         std::ranges::any_of(definition.frame.after, has_none);
}

std::vector<data::AddedToken> tokens_left_out(const data::Tokenizer& whole, const RecipeProgram& recipe) {
  std::vector<data::AddedToken> tokens;
  std::ranges::copy_if(whole.definition().added_tokens, std::back_inserter(tokens), has_no_row(recipe));
  return tokens;
}

}  // namespace

std::unique_ptr<const data::Tokenizer> within_vocabulary(std::unique_ptr<const data::Tokenizer> whole,
                                                         const std::string& file, const RecipeProgram& recipe) {
  if (whole->vocab_size() <= recipe.model->vocab_size) return whole;
  data::TokenizerDefinition definition = whole->definition();
  if (std::ssize(definition.vocabulary) > recipe.model->vocab_size || surrounds_without_rows(definition, recipe))
    throw UsageError("RUN-07",
                     fmt::format("{} has {} ids, and recipe {} a vocab_size of {}; give the tokeniser that "
                                 "the data was packed with, or take another recipe",
                                 in_quotes(file), whole->vocab_size(), recipe.name, recipe.model->vocab_size.value));
  std::erase_if(definition.added_tokens, has_no_row(recipe));
  return std::make_unique<const data::Tokenizer>(std::move(definition));
}

std::string note_tokens_left_out(const data::Tokenizer& whole, const std::string& file, const RecipeProgram& recipe) {
  std::vector<std::string> names;
  for (const data::AddedToken& token : tokens_left_out(whole, recipe)) names.push_back(in_quotes(token.content));
  if (names.empty()) return "";
  return fmt::format("{} has tokens beyond the vocab_size of {}, which are taken for ordinary text: {}",
                     in_quotes(file), recipe.model->vocab_size.value, fmt::join(names, ", "));
}

RunTokenizer read_run_tokenizer(const std::string& file, const RecipeProgram& recipe) {
  auto whole = as_usage_error("the tokeniser", [&] { return data::read_tokenizer(file); });
  RunTokenizer loaded{nullptr, tokens_left_out(*whole, recipe), note_tokens_left_out(*whole, file, recipe)};
  loaded.tokenizer = within_vocabulary(std::move(whole), file, recipe);
  return loaded;
}

}  // namespace monomorph::train
