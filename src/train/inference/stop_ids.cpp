#include "train/inference/stop_ids.hpp"

#include "core/is_there.hpp"
#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::string_view ends_of_texts[] = {"<|endoftext|>", "<|end_of_text|>", "</s>"};
constexpr std::string_view ends_of_turns[] = {"<|im_end|>", "<|eot_id|>",    "<|eom_id|>",           "<|eot|>",
                                              "<|end|>",    "<end_of_turn>", "<|END_OF_TURN_TOKEN|>"};

class StopIds {
 public:
  explicit StopIds(const data::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void add_special(std::span<const std::string_view> tokens) {
    for (const std::string_view token : tokens)
      if (const auto id = tokenizer_.find(token); id && tokenizer_.is_special(*id)) add(*id);
  }
  void add(std::int32_t id) {
    if (std::ranges::find(ids_, id) == ids_.end()) ids_.push_back(id);
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
  [[noreturn]] static void refuse(const std::string& path, const std::string& what) {
    throw UsageError("RUN-29", fmt::format("{} {}; mend it, or take it away", in_quotes(path), what));
  }

  const data::Tokenizer& tokenizer_;
  std::vector<std::int32_t> ids_;
};

}  // namespace

std::vector<std::int32_t> stop_ids(const data::Tokenizer& tokenizer, const std::string& folder,
                                   std::optional<std::int32_t> turn_end) {
  StopIds ids(tokenizer);
  ids.add_special(ends_of_texts);
  if (turn_end)
    ids.add(*turn_end);
  else  // <|end|>, for one, ends a turn of some models and a thought of others
    ids.add_special(ends_of_turns);
  ids.add_file(folder + "/generation_config.json", "eos_token_id");
  ids.add_file(folder + "/tokenizer_config.json", "eos_token");
  return std::move(ids).take();
}

}  // namespace monomorph::train
