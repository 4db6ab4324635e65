#include "train/inference/named_ids.hpp"

#include "core/is_there.hpp"
#include "train/inference/beside_tokenizer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::train {
namespace {

using nlohmann::json;

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
  const json value = object_beside_tokenizer(path).value(key, json());
  if (value.is_null()) return {};
  std::vector<std::int32_t> ids;
  for (const json& named : value.is_array() ? value : json::array({value})) {
    const auto id = id_of(tokenizer, named);
    if (id)
      ids.push_back(*id);
    else if (unknown == UnknownNames::refused)
      refuse_beside_tokenizer(path,
                              fmt::format("has as {} what is no token of the tokeniser: {}", key,
                                          named.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 100)));
  }
  return ids;
}

}  // namespace monomorph::train
