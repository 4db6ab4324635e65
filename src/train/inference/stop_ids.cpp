#include "train/inference/stop_ids.hpp"

#include "core/folder_files.hpp"
#include "train/inference/named_ids.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/train/inference/generate.hpp>

#include <algorithm>
#include <span>
#include <string_view>

namespace monomorph::train {
namespace {

/// Whatever the template: <|eom_id|> ends a turn that calls tools, which an answer in words does not show.
constexpr std::string_view ends_of_texts[] = {"<|endoftext|>", "<|end_of_text|>", "</s>", "<|eom_id|>"};
constexpr std::string_view ends_of_turns[] = {"<|im_end|>", "<|eot_id|>",    "<|eot|>",
                                              "<|end|>",    "<end_of_turn>", "<|END_OF_TURN_TOKEN|>"};

}  // namespace

std::vector<std::int32_t> stop_ids(const data::Tokenizer& tokenizer, const std::string& folder,
                                   std::optional<std::int32_t> turn_end) {
  std::vector<std::int32_t> ids;
  const auto add = [&](std::int32_t id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  const auto add_special = [&](std::span<const std::string_view> tokens) {
    for (const std::string_view token : tokens)
      if (const auto id = tokenizer.find(token); id && tokenizer.is_special(*id)) add(*id);
  };
  add_special(ends_of_texts);
  if (turn_end)
    add(*turn_end);
  else  // <|end|>, for one, ends a turn of some models and a thought of others
    add_special(ends_of_turns);
  std::ranges::for_each(named_ids(tokenizer, path_in(folder, "generation_config.json"), "eos_token_id"), add);
  std::ranges::for_each(named_ids(tokenizer, path_in(folder, "tokenizer_config.json"), "eos_token"), add);
  return ids;
}

/// What ended the text before is what an empty one begins with.
std::vector<std::int32_t> prompt_ids(const data::Tokenizer& tokenizer, std::string_view prompt,
                                     std::span<const std::int32_t> text_ends) {
  const auto before = tokenizer.ids_before_text();
  std::vector<std::int32_t> ids(before.begin(), before.end());
  for (const std::int32_t id : tokenizer.encode(prompt)) ids.push_back(id);
  if (ids.empty() && !text_ends.empty()) ids.push_back(text_ends.front());
  if (ids.empty())
    throw UsageError("RUN-09",
                     "the prompt is empty, and the tokeniser has no token that a text could begin with, such as "
                     "<|endoftext|>; give one that is not empty");
  return ids;
}

}  // namespace monomorph::train
