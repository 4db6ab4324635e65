#include "train/inference/named_ids.hpp"

#include "core/is_there.hpp"
#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::train {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw UsageError("RUN-29", fmt::format("{} {}; mend it, or take it away", in_quotes(path), what));
}

json object_of(const std::string& path) {
  const std::string text = read_text_file(path);
  json file = parsed_json(text);
  if (file.is_discarded()) refuse(path, "is no JSON object: " + json_mistake(text));
  if (!file.is_object()) refuse(path, "is no JSON object");
  return file;
}

std::optional<std::int32_t> id_of(const data::Tokenizer& tokenizer, const json& named) {
  const json& token = named.is_object() && named.contains("content") ? named["content"] : named;
  if (token.is_string()) return tokenizer.find(token.get<std::string>());
  const bool is_id = token.is_number_integer() && token >= 0 && token < tokenizer.vocab_size() &&
                     tokenizer.has_token(token.get<std::int32_t>());
  return is_id ? std::optional(token.get<std::int32_t>()) : std::nullopt;
}

}  // namespace

std::vector<std::int32_t> named_ids(const data::Tokenizer& tokenizer, const std::string& path, const std::string& key,
                                    UnknownNames unknown) {
  if (!is_file(path)) return {};
  const json value = object_of(path).value(key, json());
  if (value.is_null()) return {};
  std::vector<std::int32_t> ids;
  for (const json& named : value.is_array() ? value : json::array({value})) {
    const auto id = id_of(tokenizer, named);
    if (id)
      ids.push_back(*id);
    else if (unknown == UnknownNames::refused)
      refuse(path, fmt::format("has as {} what is no token of the tokeniser: {}", key,
                               named.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 100)));
  }
  return ids;
}

}  // namespace monomorph::train
