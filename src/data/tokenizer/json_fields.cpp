#include "data/tokenizer/json_fields.hpp"

#include "data/text/characters.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

namespace monomorph::data {

void JsonFields::expect(bool holds, std::string_view field, std::string_view wanted) const {
  if (!holds) {
    throw UsageError("TOK-01", fmt::format("{} is no tokenizer.json: {} must be {}", in_quotes(path_), field, wanted));
  }
}

void JsonFields::throw_unsupported(const std::string& feature) const {
  throw UsageError("TOK-02",
                   fmt::format("{} asks for {}, which is not supported: take another tokenizer, or change that "
                               "and train with it (see docs/reference/tokenizers.md)",
                               in_quotes(path_), feature));
}

void JsonFields::throw_contradiction(const std::string& what) const {
  throw UsageError("TOK-03", fmt::format("the tokenizer {} contradicts itself: {}", in_quotes(path_), what));
}

const JsonFields::Json& JsonFields::member(const Json& object, const char* name) const {
  expect(object.is_object() && object.contains(name), fmt::format("\"{}\"", name), "there");
  return object.at(name);
}

const JsonFields::Json& JsonFields::object(const Json& parent, const char* name) const {
  const Json& value = member(parent, name);
  expect(value.is_object(), fmt::format("\"{}\"", name), "an object");
  return value;
}

const JsonFields::Json& JsonFields::array(const Json& parent, const char* name) const {
  const Json& value = member(parent, name);
  expect(value.is_array(), fmt::format("\"{}\"", name), "an array");
  return value;
}

bool JsonFields::flag(const Json& object, const char* name, std::optional<bool> otherwise) const {
  if (otherwise && lacks(object, name)) return *otherwise;
  const Json& value = member(object, name);
  expect(value.is_boolean(), fmt::format("\"{}\"", name), "true or false");
  return value.get<bool>();
}

std::string JsonFields::text(const Json& object, const char* name, std::optional<std::string> otherwise) const {
  if (otherwise && lacks(object, name)) return *otherwise;
  const Json& value = member(object, name);
  expect(value.is_string(), fmt::format("\"{}\"", name), "a text");
  return value.get<std::string>();
}

std::string JsonFields::character(const Json& object, const char* name) const {
  std::string value = text(object, name);
  expect(is_one_character(value), fmt::format("\"{}\"", name), "one character");
  return value;
}

std::size_t JsonFields::count(const Json& object, const char* name, std::optional<std::size_t> otherwise) const {
  if (otherwise && lacks(object, name)) return *otherwise;
  const Json& value = member(object, name);
  expect(value.is_number_unsigned(), fmt::format("\"{}\"", name), "a number from 0 on");
  return value.get<std::size_t>();
}

std::int32_t JsonFields::id(const Json& value, const std::string& token) const {
  const bool fits = value.is_number_integer() && value >= 0 && value < most_ids;
  expect(fits, fmt::format("the id of {}", in_quotes(token)), fmt::format("a number from 0 to {}", most_ids - 1));
  return value.get<std::int32_t>();
}

std::string JsonFields::type(const Json& part, const std::string& what) const {
  const bool has_type = part.is_object() && part.contains("type") && part.at("type").is_string();
  if (!has_type) throw_unsupported(what + " of an unknown kind");
  return part.at("type").get<std::string>();
}

}  // namespace monomorph::data
