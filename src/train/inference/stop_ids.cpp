#include "train/inference/stop_ids.hpp"

#include "core/is_there.hpp"
#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/train/inference/generate.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::string_view ends_of_turns[] = {"<|endoftext|>", "<|end_of_text|>", "<|im_end|>",
                                              "<|eot_id|>",    "<|eom_id|>",      "<|eot|>",
                                              "<|end|>",       "<end_of_turn>",   "<|END_OF_TURN_TOKEN|>",
                                              "</s>"};

class StopIds {
 public:
  explicit StopIds(const data::Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    for (const std::string_view token : ends_of_turns)
      if (const auto id = tokenizer.find(token); id && tokenizer.is_special(*id)) add(*id);
  }

  void add_file(const std::string& path, const char* key) {
    if (!is_file(path)) return;
    const std::string text = read_text_file(path);
    const json file = parsed_json(text);
    if (file.is_discarded()) refuse(path, "is no JSON object: " + json_mistake(text));
    if (!file.is_object()) refuse(path, "is no JSON object");
    const json value = file.value(key, json());
    if (value.is_null()) return;
    for (const json& one : value.is_array() ? value : json::array({value})) add_named(path, key, one);
  }
  std::vector<std::int32_t> take() && { return std::move(ids_); }

 private:
  /// A number, a token, or an object that has the token as its content.
  void add_named(const std::string& path, const char* key, const json& named) {
    const json& token = named.is_object() && named.contains("content") ? named["content"] : named;
    if (token.is_number_integer() && token >= 0 && token < tokenizer_.vocab_size() &&
        tokenizer_.has_token(token.get<std::int32_t>()))
      return add(token.get<std::int32_t>());
    if (token.is_string())
      if (const auto id = tokenizer_.find(token.get<std::string>())) return add(*id);
    refuse(path, fmt::format("has as {} what is no token of the tokeniser: {}", key,
                             named.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 100)));
  }
  void add(std::int32_t id) {
    if (std::ranges::find(ids_, id) == ids_.end()) ids_.push_back(id);
  }
  [[noreturn]] static void refuse(const std::string& path, const std::string& what) {
    throw UsageError("RUN-29", fmt::format("{} {}; mend it, or take it away", in_quotes(path), what));
  }

  const data::Tokenizer& tokenizer_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

std::vector<std::int32_t> stop_ids(const data::Tokenizer& tokenizer, const std::string& folder) {
  StopIds ids(tokenizer);
  ids.add_file(folder + "/generation_config.json", "eos_token_id");
  ids.add_file(folder + "/tokenizer_config.json", "eos_token");
  return std::move(ids).take();
}

/// What ended the text before is what an empty one begins with.
std::vector<std::int32_t> prompt_ids(const data::Tokenizer& tokenizer, std::string_view prompt,
                                     std::span<const std::int32_t> stop_ids) {
  const auto before = tokenizer.ids_before_text();
  std::vector<std::int32_t> ids(before.begin(), before.end());
  for (const std::int32_t id : tokenizer.encode(prompt)) ids.push_back(id);
  if (ids.empty() && !stop_ids.empty()) ids.push_back(stop_ids.front());
  if (ids.empty())
    throw UsageError("RUN-09",
                     "the prompt is empty and the tokeniser has no <|endoftext|> to begin with; give --prompt");
  return ids;
}

}  // namespace monomorph::train
