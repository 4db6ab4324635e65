#include "train/inference/stop_ids.hpp"

#include "train/inference/named_ids.hpp"

#include <algorithm>
#include <string_view>

namespace monomorph::train {
namespace {

constexpr std::string_view ends_of_turns[] = {"<|endoftext|>", "<|end_of_text|>", "<|im_end|>",
                                              "<|eot_id|>",    "<|eom_id|>",      "<|eot|>",
                                              "<|end|>",       "<end_of_turn>",   "<|END_OF_TURN_TOKEN|>",
                                              "</s>"};

}  // namespace

std::vector<std::int32_t> stop_ids(const data::Tokenizer& tokenizer, const std::string& folder) {
  std::vector<std::int32_t> ids;
  const auto add = [&](std::int32_t id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for (const std::string_view token : ends_of_turns)
    if (const auto id = tokenizer.find(token); id && tokenizer.is_special(*id)) add(*id);
  std::ranges::for_each(named_ids(tokenizer, folder + "/generation_config.json", "eos_token_id"), add);
  std::ranges::for_each(named_ids(tokenizer, folder + "/tokenizer_config.json", "eos_token"), add);
  return ids;
}

}  // namespace monomorph::train
