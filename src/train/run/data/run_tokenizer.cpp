#include "train/run/data/run_tokenizer.hpp"

#include "core/as_usage_error.hpp"

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

namespace monomorph::train {

std::unique_ptr<const data::Tokenizer> read_run_tokenizer(const std::string& file, const RecipeProgram& recipe) {
  auto tokenizer = as_usage_error("the tokeniser", [&] { return data::read_tokenizer(file); });
  if (tokenizer->vocab_size() > recipe.model->vocab_size)
    throw UsageError("RUN-07",
                     fmt::format("{} has {} ids, and recipe {} a vocab_size of {}; give the tokeniser that the data "
                                 "was packed with, or take another recipe",
                                 in_quotes(file), tokenizer->vocab_size(), recipe.name,
                                 recipe.model->vocab_size.value));
  return tokenizer;
}

}  // namespace monomorph::train
